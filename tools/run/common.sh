# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # shared with run and the commands
# Shared by the commands of ./run: messages, timing, options, packages, configure and build.

started=$SECONDS
assume_yes=false
preset=release
jobs=$(nproc)
export NINJA_STATUS="[%f/%t %es] "
# Paths below here count as relative, so that a second clone finds what the first one compiled.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-true}

elapsed() { printf '%d:%02d' $((($1) / 60)) $((($1) % 60)); }

# say TEXT: a progress line with the time since the start.
say() { printf '== [%s] %s\n' "$(elapsed $((SECONDS - started)))" "$*"; }

# fail REASON MEND: what went wrong and what to do about it.
fail() {
  printf 'run: %s\n' "$1" >&2
  [[ -n ${2:-} ]] && printf '     %s\n' "$2" >&2
  exit 1
}

# step TEXT COMMAND...: runs a command between two progress lines.
step() {
  local text=$1 begin=$SECONDS
  shift
  say "$text"
  if ! "$@"; then
    say "$text: failed after $(elapsed $((SECONDS - begin)))"
    return 1
  fi
  say "$text: done in $(elapsed $((SECONDS - begin)))"
}

# common_option ARG NEXT: takes --yes, --preset P and --jobs N; the number of words taken is in `took`.
common_option() {
  took=1
  case $1 in
    --yes | -y) assume_yes=true ;;
    --preset)
      preset=${2:?--preset needs a name}
      took=2
      ;;
    --jobs | -j)
      jobs=${2:?--jobs needs a number}
      took=2
      ;;
    *) fail "unknown option '$1'" "see ./run $command --help" ;;
  esac
}

common_help() {
  cat <<'END'
  --preset NAME   a configure preset of CMakePresets.json (default: release)
  --jobs N        parallel jobs (default: all processors)
  --yes           install missing Debian packages without asking (needs sudo unless root)
END
}

# --- packages ------------------------------------------------------------------------------------
# A package counts as there when its command or header is, so that other systems work as well.
build_packages=(cmake ninja-build g++ pkg-config python3 libgtest-dev libgmock-dev
  librapidcheck-dev libbenchmark-dev nlohmann-json3-dev libcli11-dev libfmt-dev)
optional_packages=(ccache libpmem-dev)
lint_packages=(clang clang-format shellcheck git)
docs_packages=(doxygen python3)

package_is_there() {
  case $1 in
    ninja-build) command -v ninja >/dev/null ;;
    cmake | g++ | pkg-config | python3 | ccache | clang | clang-format | shellcheck | git | doxygen)
      command -v "$1" >/dev/null
      ;;
    libgtest-dev) have_header gtest/gtest.h ;;
    libgmock-dev) have_header gmock/gmock.h ;;
    librapidcheck-dev) have_header rapidcheck.h ;;
    libbenchmark-dev) have_header benchmark/benchmark.h ;;
    nlohmann-json3-dev) have_header nlohmann/json.hpp ;;
    libcli11-dev) have_header CLI/CLI.hpp ;;
    libfmt-dev) have_header fmt/core.h ;;
    libpmem-dev) have_header libpmem.h ;;
    *) fail "tools/run/common.sh does not know how to look for package '$1'" "add it there" ;;
  esac
}

have_header() {
  [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]] && return
  command -v g++ >/dev/null && g++ -E -x c++ - <<<"#include <$1>" >/dev/null 2>&1
}

# need_packages PACKAGE...: installs what is missing, or says how and stops.
need_packages() {
  local missing=() package
  for package in "$@"; do
    package_is_there "$package" || missing+=("$package")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    need_cmake_version
    return
  fi
  for package in "${optional_packages[@]}"; do
    package_is_there "$package" || missing+=("$package")
  done
  local sudo=()
  [[ $EUID -eq 0 ]] || sudo=(sudo)
  local install=("${sudo[@]}" apt-get install -y --no-install-recommends "${missing[@]}")
  say "missing packages; this brings them:"
  printf '     %s\n' "${install[*]}"
  if ! command -v apt-get >/dev/null; then
    fail "there is no apt-get here" "install the equivalents of: ${missing[*]}"
  fi
  if [[ $EUID -ne 0 && $assume_yes == false ]]; then
    fail "packages are missing: ${missing[*]}" \
      "run the command above, or the same ./run command with --yes"
  fi
  export DEBIAN_FRONTEND=noninteractive
  if ! "${install[@]}" </dev/null; then # stale or empty package lists
    step "Updating package lists" "${sudo[@]}" apt-get update </dev/null ||
      fail "apt-get update failed" "check the network and /etc/apt/sources.list"
    "${install[@]}" </dev/null ||
      fail "apt-get could not install the packages" "see its message above"
  fi
  need_cmake_version
}

need_cmake_version() {
  command -v cmake >/dev/null || return 0
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  if [[ $(printf '3.25\n%s\n' "$version" | sort -V | head -1) != 3.25 ]]; then
    fail "CMake $version is too old; Weir needs 3.25 or later" "Debian 12 has it: apt-get install cmake"
  fi
}

# --- configure and build ---------------------------------------------------------------------------
configure() {
  step "Configuring preset $preset" cmake --preset "$preset" ||
    fail "configuring failed" "see the message above; ./run clean removes a stale build/"
}

# build [TARGET...]: the whole tree, or some targets.
build() {
  local targets=()
  [[ $# -gt 0 ]] && targets=(--target "$@")
  step "Building${*:+ $*} ($jobs jobs)" \
    cmake --build "build/$preset" --parallel "$jobs" "${targets[@]}" ||
    fail "the build failed" "the first error above says where"
}
