# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of common.sh
cmd_gpu() {
  case ${1:-} in
    -h | --help)
      echo "usage: ./run gpu"
      echo "Runs what needs a GPU. There is no GPU code yet."
      return
      ;;
  esac
  echo "Weir has no GPU code yet: there is nothing to run."
  if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null; then
    echo "(The GPU above was found.)"
  fi
}
