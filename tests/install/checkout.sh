#!/bin/bash
# SPDX-License-Identifier: MIT
# A checkout as others have it: without .git, in a directory of any name, or copied together with its build directory. The system
# may have no apt-get, and its libraries may be anywhere.
#
#   checkout.sh SOURCE
set -euo pipefail

fail() {
  echo "$*" >&2
  exit 1
}
# in_checkout DIRECTORY COMMAND: with the functions of the set-up.
in_checkout() {
  bash -euc 'source "$0"; '"$2" "$1/.tools/setup.sh"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first="$work/Mit Leerzeichen und żółć" second="$work/Kopie davon"
mkdir "$first"
tar -C "$1" --exclude=./.git --exclude='./build*' -c . | tar -C "$first" -x

# Configured once. A copy of the build directory is configured anew, with its options, and leaves the original alone.
configure='configure build -Dexamples=disabled -Dtests=disabled; build build'
in_checkout "$first" "$configure"
cp -r "$first" "$second"
original=$(stat -c '%i %Y' "$first/build/build.ninja")
in_checkout "$first" "$configure"
in_checkout "$second" 'configure build; build build'
test "$original" = "$(stat -c '%i %Y' "$first/build/build.ninja")" || fail "what is configured is configured again"
for line in "Source dir: $second" "Build dir: $second/build"; do
  grep -Fxq "$line" "$second/build/meson-logs/meson-log.txt" || fail "the copied build directory has no »$line«"
done
! grep -Fq "$first" "$second/build/build.ninja" || fail "the copied build directory names the original"
grep -Eq '^ +tests +: disabled$' "$second/build/meson-logs/meson-log.txt" || fail "the copy has lost its options"

# A system without apt-get, on which the modules of pkg-config lie somewhere else.
mkdir "$work/programs" "$work/modules"
IFS=: read -ra directories <<<"$PATH"
for directory in "${directories[@]}"; do
  find "$directory/" -maxdepth 1 -name '[a-z[]*' ! -name 'apt*' -exec ln -st "$work/programs" {} + 2>/dev/null || true
done
for module in xtensor xsimd openblas CLI11 nlohmann_json libtcmalloc_minimal zlib liblzma; do
  pkg-config --exists "$module" || { echo "skipped: pkg-config knows no $module" && exit 77; }
  cp "$(pkg-config --variable=pcfiledir "$module")/$module.pc" "$work/modules"
done
export PATH="$work/programs"
ln -s "$first/examples/run" "$work/run"
# shellcheck disable=SC2016  # expanded there
needed='install_library "${for_examples[@]}"'
said=$(PKG_CONFIG_LIBDIR="$work/modules" in_checkout "$first" "$needed" 2>&1) || fail "all is there, and yet: $said"
test -z "$said" || fail "all is there, and yet: $said"

# What is missing it says in one sentence.
rm "$work/modules/xtensor.pc" "$work/modules/CLI11.pc"
said=$(PKG_CONFIG_LIBDIR="$work/modules" "$work/run" 2>&1) && fail "xtensor and CLI11 are missing, and it ran" || code=$?
test "$code" = 2 || fail "xtensor and CLI11 are missing, and it ends with $code"
expected="Please install what is not found here, in brackets as Debian calls it: the module xtensor (libxtensor-dev), \
the module CLI11 (libcli11-dev)."
test "$said" = "$expected" || fail "xtensor and CLI11 are missing, and it says: $said"
