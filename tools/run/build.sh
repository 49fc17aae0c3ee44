# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of common.sh
cmd_build() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help)
        echo "usage: ./run build [options]"
        echo "Configures and builds everything in build/<preset>."
        common_help
        return
        ;;
      *)
        common_option "$@"
        shift "$took"
        ;;
    esac
  done
  need_packages "${build_packages[@]}"
  configure
  build
}
