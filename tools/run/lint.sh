# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # variables of common.sh
cmd_lint() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help)
        cat <<'END'
usage: ./run lint [options]
Checks the source tree: clang-format, layering of includes, every public header alone, clang's view of
every source, shellcheck, links, quoted code and tables of results in documents, SPDX lines, file sizes. Runs all checks, then fails.
END
        common_help
        return
        ;;
      *)
        common_option "$@"
        shift "$took"
        ;;
    esac
  done
  need_packages "${build_packages[@]}" "${lint_packages[@]}"
  local cpp scripts failed=()
  mkdir -p build
  mapfile -t cpp < <(list_files '*.cpp' '*.hpp' '*.cu' '*.cuh')
  mapfile -t scripts < <(list_files run .ci/run '*.sh')

  check() { step "$@" || failed+=("$1"); }
  check "Formatting" clang-format --dry-run -Werror "${cpp[@]}"
  check "Layering checker's own test" python3 tools/check_layering.py --self-test
  check "Layering" python3 tools/check_layering.py
  check "Scripts" shellcheck -x "${scripts[@]}"
  check "Links" python3 tools/check_links.py
  check "Quoted code" python3 tools/check_quotes.py
  check "Tables of results" python3 tools/results_tables.py --check
  check "Licence lines and sizes" python3 tools/check_tree.py
  # compile_commands.json must know the sources of today.
  cmake --preset "$preset" >build/lint-configure.log 2>&1 ||
    fail "configuring failed" "build/lint-configure.log says why"
  check "Headers alone and clang" python3 tools/check_sources.py --build "build/$preset" --jobs "$jobs"

  [[ ${#failed[@]} -eq 0 ]] || fail "failed: $(printf '%s; ' "${failed[@]}")" \
    "the messages are above; clang-format -i <file> mends formatting"
  say "lint is clean"
}

# Tracked files and new ones that git does not ignore.
list_files() { git ls-files --cached --others --exclude-standard -- "$@" | sort -u | while read -r f; do
  [[ -f $f ]] && echo "$f"
done; }
