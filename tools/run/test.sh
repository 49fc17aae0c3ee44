# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of common.sh
cmd_test() {
  local modules=() ctest_options=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help)
        cat <<'END'
usage: ./run test [module...] [options] [-- ctest options]
Builds everything in build/<preset> and runs the tests: all, or those of some modules
(runtime, anifilter, package, example). What was skipped is listed with its reason.
END
        common_help
        return
        ;;
      --)
        shift
        ctest_options+=("$@")
        break
        ;;
      -*)
        common_option "$@"
        shift "$took"
        ;;
      *)
        modules+=("$1")
        shift
        ;;
    esac
  done
  if [[ ${#modules[@]} -gt 0 ]]; then
    local names
    names=$(printf '|%s' "${modules[@]}")
    ctest_options+=(--tests-regex "^(${names:1})\\.")
  fi
  need_packages "${build_packages[@]}"
  configure
  build

  local report="build/$preset/test-results.xml" status=0
  rm -f "$report"
  step "Testing" ctest --preset "$preset" --parallel "$jobs" --output-junit "$PWD/$report" \
    "${ctest_options[@]}" || status=1
  [[ -e $report ]] || fail "ctest ran no test" "check the module names: ./run test --help"
  python3 tools/test_summary.py "$report" || status=1
  [[ $status -eq 0 ]] || fail "tests failed" \
    "their output is above; again: ctest --preset $preset --rerun-failed --output-on-failure"
}
