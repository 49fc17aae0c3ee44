# SPDX-License-Identifier: Apache-2.0
#   weir_bench_figures(<module> SOURCES <files> [LINK <targets>])   bench/<module>_figures: writes results
#   weir_bench_ops(<module> SOURCES <files> [LINK <targets>])       bench/<module>_ops: Google Benchmark
# The run script finds both by these names, in bench/ of the build folder.
function(weir_bench_figures module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  weir_program(${module}_figures SOURCES ${arg_SOURCES} LINK ${arg_LINK})
  target_include_directories(${module}_figures PRIVATE "${PROJECT_SOURCE_DIR}/bench")
  set_target_properties(${module}_figures PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                 "${PROJECT_BINARY_DIR}/bench")
endfunction()

function(weir_bench_ops module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  weir_program(${module}_ops SOURCES ${arg_SOURCES} LINK benchmark::benchmark ${arg_LINK})
  target_include_directories(${module}_ops PRIVATE "${PROJECT_SOURCE_DIR}/bench")
  set_target_properties(${module}_ops PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                 "${PROJECT_BINARY_DIR}/bench")
endfunction()
