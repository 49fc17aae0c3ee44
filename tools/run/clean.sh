# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of common.sh
cmd_clean() {
  case ${1:-} in
    -h | --help)
      echo "usage: ./run clean [--all]"
      echo "Removes build/; with --all also results/."
      ;;
    "") rm -rf build ;;
    --all) rm -rf build results ;;
    *) fail "unknown option '$1'" "see ./run clean --help" ;;
  esac
}
