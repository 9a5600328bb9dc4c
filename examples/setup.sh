# SPDX-License-Identifier: MIT
# Sourced by examples/run, tests/run and .ci/run: installs what is missing, configures the build directory, builds, and
# chooses the kernels of OpenBLAS. Does nothing twice.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What the library, the examples, the tests and the gate are built with, and the file by which each is recognised.
readonly library=(
  "g++:/usr/bin/g++"
  "meson:/usr/bin/meson"
  "ninja-build:/usr/bin/ninja"
  "pkg-config:/usr/bin/pkg-config"
  "libxtensor-dev:/usr/include/xtensor/xtensor.hpp"
  "libxtensor-blas-dev:/usr/include/xflens/cxxblas/cxxblas.cxx"
  "libopenblas-dev:/usr/lib/$(uname -m)-linux-gnu/libopenblas.so"
)
readonly for_examples=(
  "libcli11-dev:/usr/include/CLI/CLI.hpp"
  "nlohmann-json3-dev:/usr/include/nlohmann/json.hpp"
)
readonly for_tests=(
  "doctest-dev:/usr/include/doctest/doctest.h"
  "librapidcheck-dev:/usr/include/rapidcheck.h"
  "python3:/usr/bin/python3"
)
readonly for_clang=(
  "clang:/usr/bin/clang++"
  "libclang-rt-14-dev:/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.asan-$(uname -m).a"
)
readonly for_format=("clang-format:/usr/bin/clang-format")

# install PACKAGE:FILE …: the packages whose file is not there.
install_missing() {
  local package missing=()
  for package; do
    [[ -e "${package#*:}" ]] || missing+=("${package%%:*}")
  done
  ((${#missing[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    echo "This needs ${missing[*]} (these are Debian's names for the packages)." >&2
    echo "Please install a C++20 compiler, Meson, Ninja, pkg-config, xtensor 0.24, xtensor-blas 0.20, OpenBLAS, CLI11," >&2
    echo "doctest, RapidCheck and nlohmann-json, then run meson setup build && meson test -C build." >&2
    exit 1
  fi
  local sudo=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "This needs ${missing[*]}: please run apt-get install ${missing[*]} as root." >&2
      exit 1
    fi
    sudo=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null 2>&1 || {
    echo "apt-get could not install ${missing[*]}" >&2
    exit 1
  }
}

# quietly COMMAND: shows what it prints only if it fails, and then ends.
quietly() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    rm "$log"
    exit 1
  }
  rm "$log"
}

# configure DIRECTORY [meson's options]: once.
configure() {
  local directory=$1
  shift
  [[ -e "$directory/build.ninja" ]] || quietly meson setup "$directory" "$@"
}

# build DIRECTORY [TARGET …]: what has changed, with JOBS= at a time. On a terminal one line shows how far it is; otherwise
# nothing is printed unless it fails.
build() {
  local directory=$1 jobs=()
  shift
  [[ -z "${JOBS:-}" ]] || jobs=(-j "$JOBS")
  if [[ -t 1 ]]; then
    ninja -C "$directory" --quiet "${jobs[@]}" "$@" || exit 1
  else
    quietly ninja -C "$directory" "${jobs[@]}" "$@"
  fi
}

# OpenBLAS 0.3.21 takes a CPU newer than itself for one without AVX-512, and then computes at half its speed. PROGRAM is
# any that is linked to it.
choose_openblas_kernel() {
  local program=$1 feature
  [[ -z "${OPENBLAS_CORETYPE:-}" ]] || return 0
  for feature in avx512f avx512dq avx512bw avx512vl avx512cd; do
    grep -qw "$feature" /proc/cpuinfo 2>/dev/null || return 0
  done
  if OPENBLAS_VERBOSE=2 "$program" --help 2>&1 >/dev/null | grep -qE "^Core: (Haswell|Zen)"; then
    export OPENBLAS_CORETYPE=SkylakeX
  fi
}
