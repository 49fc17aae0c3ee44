# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of common.sh
cmd_docs() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help)
        echo "usage: ./run docs [--yes]"
        echo "Builds the API documentation in build/docs/html; a warning is an error. Checks all links."
        return
        ;;
      *)
        common_option "$@"
        shift "$took"
        ;;
    esac
  done
  need_packages "${docs_packages[@]}"
  mkdir -p build/docs
  local version
  version=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
  sed "s/@PROJECT_VERSION@/$version/" docs/Doxyfile.in >build/docs/Doxyfile
  step "Building the documentation" doxygen build/docs/Doxyfile ||
    fail "doxygen found faults" "its warnings are above"
  step "Checking links" python3 tools/check_links.py || fail "links are broken" "see above"
  say "open build/docs/html/index.html"
}
