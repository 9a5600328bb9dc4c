#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the library under a temporary prefix, then builds and runs a program against nothing but that: by pkg-config,
# and, after the prefix was moved, by CMake.
#
#   installed.sh MESON SOURCE COMPILER [ARGUMENT...]
set -eu
meson=$1 source=$2
shift 2
command -v cmake >/dev/null || { echo "skipped: there is no cmake; on Debian: apt-get install cmake" && exit 77; }
outside=$source/tests/install/outside/outside.cpp

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"  # Meson asks CMake what it is, which writes into the directory where it is asked: one that no other test uses
CXX="$*" "$meson" setup "$work/build" "$source" --prefix="$work/prefix" -Dexamples=disabled -Dtests=disabled
"$meson" install -C "$work/build" --quiet

# All headers, and nothing else.
diff -r "$source/tlm" "$work/prefix/include/tlm"

flags() { PKG_CONFIG_PATH="$work/prefix/share/pkgconfig" pkg-config "$@"; }
"$@" -std=c++20 "$outside" -o outside $(flags --cflags --libs tlm)
test "$(./outside)" = "3 rows of 3"

# It is the installed headers that were found: without them there is no such program.
if "$@" -std=c++20 -fsyntax-only "$outside" $(flags --cflags xtensor openblas) 2>/dev/null; then
  echo "the program compiles without the installed headers" >&2
  exit 1
fi

# The flags come along with CMake, too.
carried=$(flags --cflags-only-other tlm)
test -n "$carried"
mv prefix "żółw i prefiks"
CXX="$*" cmake -G Ninja -S "$source/tests/install/outside" -B "by CMake" -DCMAKE_PREFIX_PATH="$work/żółw i prefiks" \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
cmake --build "by CMake"
test "$("by CMake/outside")" = "3 rows of 3"
for flag in $carried; do
  grep -q -- " $flag " "by CMake/compile_commands.json"
done

# A version that is not installed is not found.
mkdir newer
sed 's/find_package(tlm [0-9.]* /find_package(tlm 99 /' "$source/tests/install/outside/CMakeLists.txt" > newer/CMakeLists.txt
cp "$outside" newer
if CXX="$*" cmake -G Ninja -S newer -B "by CMake, newer" -DCMAKE_PREFIX_PATH="$work/żółw i prefiks" 2>said; then
  echo "version 99 of tlm is not there, and yet CMake finds it" >&2
  exit 1
fi
grep -q 'requested version "99"' said
