# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of common.sh
cmd_bench() {
  local modules=() full=() record=false
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help)
        cat <<'END'
usage: ./run bench [module...] [--full] [--record] [options]
Builds the benchmark programs, runs bench/<module>_figures (all modules, or those named), which
writes results/<module>.json and prints it as a table, then checks that the Google Benchmark program
bench/<module>_ops runs.
  --full          every figure at full size; takes much longer
  --record        copy the results to docs/results/ and renew the tables made from them
END
        common_help
        return
        ;;
      --full)
        full=(--full)
        shift
        ;;
      --record)
        record=true
        shift
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
  need_packages "${build_packages[@]}"
  configure
  build bench/all

  local bin="build/$preset/bench" program module
  if [[ ${#modules[@]} -eq 0 ]]; then
    for program in "$bin"/*_figures; do
      [[ -x $program ]] && modules+=("$(basename "$program" _figures)")
    done
    if [[ ${#modules[@]} -eq 0 ]]; then
      say "there are no benchmark programs in $bin yet"
      return
    fi
  fi
  for module in "${modules[@]}"; do
    [[ -x $bin/${module}_figures ]] || fail "there is no benchmark for module '$module'" \
      "there are: $(find "$bin" -maxdepth 1 -name '*_figures' -printf '%f ' | sed 's/_figures//g')"
  done

  mkdir -p results
  for module in "${modules[@]}"; do
    step "Figures of $module" "$bin/${module}_figures" "${full[@]}" --out "results/$module.json" ||
      fail "$bin/${module}_figures failed" "its message is above; it also runs by itself: --help"
    say "results/$module.json is written"
    if [[ -x $bin/${module}_ops ]]; then
      step "Smoke test of ${module}_ops" smoke_test_ops "$bin/${module}_ops" ||
        fail "$bin/${module}_ops failed" "run it by itself to see where"
    fi
    if [[ $record == true ]]; then
      mkdir -p docs/results
      cp "results/$module.json" "docs/results/$module.json"
      say "docs/results/$module.json is recorded"
    fi
  done
  if [[ $record == true && -e tools/results_tables.py ]]; then
    step "Renewing the tables of the documents" python3 tools/results_tables.py ||
      fail "tools/results_tables.py failed" "its message is above"
  fi
}

# The first benchmark of each family, for as short as can be: says that they run, not how fast.
smoke_test_ops() {
  local filter
  filter=$("$1" --benchmark_list_tests | awk -F/ '!seen[$1]++ { print "^" $0 "$" }' |
    sed 's/[.+*?()\[\]{}|]/\\&/g' | paste -sd'|')
  if [[ -z $filter ]]; then
    echo "$1 lists no benchmarks"
    return 1
  fi
  "$1" --benchmark_min_time=0.001 --benchmark_filter="$filter"
}
