# Sourced by examples/run and tests/run: installs what is missing, configures the build directory, and chooses the
# kernels of OpenBLAS. Does nothing twice.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What tests and examples are built with, and the file by which each is recognised.
readonly packages=(
  "g++:/usr/bin/g++"
  "meson:/usr/bin/meson"
  "ninja-build:/usr/bin/ninja"
  "pkg-config:/usr/bin/pkg-config"
  "libxtensor-dev:/usr/include/xtensor/xtensor.hpp"
  "libxtensor-blas-dev:/usr/include/xflens/cxxblas/cxxblas.cxx"
  "libopenblas-dev:/usr/lib/$(uname -m)-linux-gnu/libopenblas.so"
  "libcli11-dev:/usr/include/CLI/CLI.hpp"
  "doctest-dev:/usr/include/doctest/doctest.h"
  "nlohmann-json3-dev:/usr/include/nlohmann/json.hpp"
  "python3:/usr/bin/python3"
)

install_what_is_missing() {
  local package missing=()
  for package in "${packages[@]}"; do
    [[ -e "${package#*:}" ]] || missing+=("${package%%:*}")
  done
  ((${#missing[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    echo "This needs ${missing[*]} (these are Debian's names for the packages)." >&2
    echo "Please install a C++20 compiler, Meson, Ninja, pkg-config, xtensor 0.24, xtensor-blas 0.20, OpenBLAS, CLI11," >&2
    echo "doctest and nlohmann-json, then run meson setup build && meson test -C build." >&2
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
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
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

# build DIRECTORY [TARGET …]: what has changed, silently unless it fails.
build() {
  local directory=$1
  shift
  quietly ninja -C "$directory" "$@"
}

# OpenBLAS 0.3.21 takes a CPU newer than itself for one without AVX-512, and then computes at half its speed.
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

install_what_is_missing
