# SPDX-License-Identifier: MIT
# Sourced by examples/run, tests/run, docs/run and .ci/run: installs missing packages, configures the build directory and
# builds, each only where it is needed.

script=$(readlink -f -- "$0" || true)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# refuse SENTENCE: what makes no sense ends a script with it, and with 2.
refuse() {
  echo "${script#"$(pwd -P)/"}: $*" >&2
  exit 2
}

# alone OPTION [ARGUMENT …]: nothing stands behind it.
alone() {
  (($# == 1)) || refuse "$1 takes nothing more: '$2'"
}

# Ctrl-C ends a script as it ends a program, so that a loop over it ends, too; 130 is its `$?`. What runs is waited for.
trap 'rm -f -- "${log:-}"; echo "$0: interrupted" >&2; trap - INT; kill -INT $$' INT

readonly compiler=${CXX:-g++}
# Of each compiler a directory of its own.
build_directory=build
[[ "$compiler" == g++ ]] || build_directory+=-${compiler//[^A-Za-z0-9+._-]/_}
case $(basename "${compiler%% *}") in
  g++* | clang++*) ;;  # which can be installed
  *)
    command -v "${compiler%% *}" >/dev/null || refuse "CXX is '$compiler', and there is no such program"
    ;;
esac
[[ "${JOBS:-1}" =~ ^[1-9][0-9]*$ ]] || refuse "JOBS is '$JOBS', and should be an integer from 1 on"
# The Python that finds Debian's packages, which need not be the first one.
readonly system_python=$([[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || echo python3)
# What the library, the examples, the tests and the gate are built with: Debian's package, and what tells that it is
# there, wherever it lies: a program, a module of pkg-config, a header that the compiler finds, an option that it links
# with, a module of the system's Python, or a file.
readonly for_compiling=("$(basename "${compiler%% *}" | sed 's/^clang++/clang/') program ${compiler%% *}")
readonly library=(
  "meson program meson"
  "ninja-build program ninja"
  "pkg-config program pkg-config"
  "libxtensor-dev module xtensor"
  "libxtensor-blas-dev header xflens/cxxblas/drivers/cblas.h"
  "libxsimd-dev module xsimd"
  "libopenblas-dev module openblas"
)
readonly for_examples=(
  "libcli11-dev module CLI11"
  "nlohmann-json3-dev module nlohmann_json"
  "libgoogle-perftools-dev module libtcmalloc_minimal"
  "zlib1g-dev module zlib"
  "liblzma-dev module liblzma"
)
readonly for_tests=(
  "doctest-dev header doctest/doctest.h"
  "librapidcheck-dev header rapidcheck.h"
  "python3 program python3"
  "cmake program cmake"
)
readonly for_ranks=(
  "libopenmpi-dev module ompi-c"
  "openmpi-bin program mpirun"
)
readonly for_machines=("iproute2 program ip")
readonly for_kernel=("coq program coqc")
readonly for_format=("clang-format program clang-format")
readonly for_docs=(
  "python3-sphinx python sphinx"
  "furo python furo"
  "python3-matplotlib python matplotlib"
  "doxygen program doxygen"
  "graphviz program dot"
  "clang-format program clang-format"
  "libjs-mathjax file /usr/share/javascript/mathjax/MathJax.js"
)
# Clang for wasm32: for the figures that run in a browser, and the proofs that run in node.
readonly for_wasm=(
  "clang-19 program clang++-19"
  "lld-19 program wasm-ld-19"
  "libc++-19-dev-wasm32 file /usr/include/wasm32-wasi/c++/v1"
  "libc++abi-19-dev-wasm32 file /usr/lib/wasm32-wasi/libc++abi.a"
  "libclang-rt-19-dev-wasm32 file /usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a"
  "wasi-libc file /usr/lib/wasm32-wasi/libc.a"
  "nodejs program node"
)
readonly for_browsing=(
  "chromium program chromium"
  "chromium-driver program chromedriver"
  "python3-selenium python selenium"
)

# is_there KIND NAME: whether it is.
is_there() {
  local flags
  case $1 in
    program) command -v "$2" ;;
    module) pkg-config --exists "$2" ;;
    header)
      # Where xtensor lies, xtensor-blas may lie, too.
      flags=$(pkg-config --cflags xtensor) || flags=
      # shellcheck disable=SC2086  # several arguments
      printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$2" | $compiler $flags -E -x c++ -
      ;;
    option) echo 'int main() {}' | $compiler "$2" -x c++ -o /dev/null - ;;
    python) "$system_python" -c "import $2" ;;
    file) [[ -e "$2" ]] ;;
  esac >/dev/null 2>&1
}

# Whether something was installed, so that what was configured before looks for it.
installed=""

# install_missing "PACKAGE KIND NAME" …: the packages of what is not there.
install_missing() {
  local need package kind name missing=() sought=""
  for need; do
    read -r package kind name <<<"$need"
    is_there "$kind" "$name" && continue
    missing+=("$package")
    sought+="${sought:+, }the $kind $name ($package)"
  done
  ((${#missing[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    echo "Please install what is not found here, in brackets as Debian calls it: $sought." >&2
    exit 2
  fi
  local sudo=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "This needs ${missing[*]}: please run apt-get install ${missing[*]} as root." >&2
      exit 2
    fi
    sudo=(sudo)
  fi
  echo "Installing ${missing[*]}" >&2
  "${sudo[@]}" apt-get update -qq >/dev/null 2>&1 || true  # what it knows may do
  local said
  said=$("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" 2>&1 >/dev/null) || {
    echo "$said" >&2
    echo "apt-get could not install ${missing[*]}" >&2
    exit 2
  }
  installed=1
}

# install_library "PACKAGE KIND NAME" …: what the library needs, and more. The compiler comes first: it tells which headers are there.
install_library() {
  install_missing "${for_compiling[@]}"
  install_missing "${library[@]}" "$@"
}

# install_if_known "PACKAGE KIND NAME" …: the same for what can be done without. Returns 1 if it is not there afterwards.
install_if_known() {
  local need package kind name missing=""
  for need; do
    read -r package kind name <<<"$need"
    is_there "$kind" "$name" && continue
    missing=1
    apt-cache show "$package" >/dev/null 2>&1 || return 1
  done
  [[ -z "$missing" ]] || (install_missing "$@") || return 1
  installed+=$missing
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

# look_anew DIRECTORY [meson's options]: configures it once more, and looks for all that it may have missed.
look_anew() {
  local directory=$1
  shift
  quietly meson configure --clearcache "$directory"
  quietly meson setup --reconfigure "$directory" "$@"
}

# configure DIRECTORY [meson's options]: once, and once more after the checkout was moved or copied with it, as it names
# the place where it was configured; after packages were installed; and as far as a meson.build has changed.
configure() {
  local directory=$1 place
  shift
  place=$(sed -n 's/^Build dir: //p' "$directory/meson-logs/meson-log.txt" 2>/dev/null || true)
  if [[ ! -e "$directory/build.ninja" ]]; then
    quietly meson setup "$directory" "$@"
  elif [[ -n "$place" && "$place" != "$(readlink -f "$directory")" ]]; then
    quietly meson setup --wipe "$directory"
  elif [[ -n "$installed" ]]; then
    look_anew "$directory"
  else
    quietly ninja -C "$directory" build.ninja  # where a meson.build has changed, so have its programs and tests
  fi
}

# look_again DIRECTORY TARGET [meson's options]: configures it once more if what the target needs came later.
look_again() {
  local directory=$1 target=$2
  shift 2
  grep -q "^build $target:" "$directory/build.ninja" || look_anew "$directory" "$@"
}

# look_for_wasm DIRECTORY: the same for Clang for wasm32.
look_for_wasm() {
  ! is_there program clang++-19 || look_again "$1" docs/browser/train.wasm
}

# build DIRECTORY [TARGET …]: what has changed, with JOBS= at a time. On a terminal one line shows how far it is; otherwise
# nothing is printed unless it fails.
build() {
  local directory=$1 jobs=(-j "${JOBS:-$(nproc)}") planned with=()
  shift
  # Compilers allocate so much that with tcmalloc they take a fifteenth less time.
  ! is_there module libtcmalloc_minimal ||
    with=(env "LD_PRELOAD=$(pkg-config --variable=libdir libtcmalloc_minimal)/libtcmalloc_minimal.so${LD_PRELOAD:+:$LD_PRELOAD}")
  planned=$(cd "$directory" && ninja -n "$@" 2>&1) || true
  [[ "$planned" != *"ninja: no work to do."* ]] || return 0
  if [[ -t 1 ]]; then
    (cd "$directory" && exec "${with[@]}" ninja "${jobs[@]}" "$@") || exit 1
  else
    echo "Building in $directory." >&2
    quietly "${with[@]}" ninja -C "$directory" "${jobs[@]}" "$@"
  fi
}
