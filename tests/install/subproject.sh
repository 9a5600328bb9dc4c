#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds and runs a program of another Meson project, which has the library as a subproject, in a directory of any name.
#
#   subproject.sh MESON SOURCE COMPILER [ARGUMENT...]
set -eu
meson=$1 source=$2
shift 2

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
work="$temporary/Gäste und żółwie"
mkdir "$work"
cd "$work"  # as in installed.sh
cp -r "$source/tests/install/outside" "$work"
mkdir "$work/outside/subprojects"
ln -s "$source" "$work/outside/subprojects/tlm"
CXX="$*" "$meson" setup "$work/build" "$work/outside"
"$meson" compile -C "$work/build"
test "$("$work/build/outside")" = "3 rows of 3"

# A subproject brings neither its tests nor its examples.
test "$("$meson" introspect "$work/build" --tests)" = "[]"
test "$("$meson" introspect "$work/build" --targets | grep -o '"type": "executable"' | wc -l)" -eq 1
