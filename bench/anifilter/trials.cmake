# SPDX-License-Identifier: Apache-2.0
# The trials: crash cells, kill -9, concurrency and the block stream, as a library that the tests and
# the figures program share. Included by both, so that either may be built without the other.
include_guard(GLOBAL)
set(trials_dir "${PROJECT_SOURCE_DIR}/bench/anifilter")
add_library(
  weir_anifilter_trials STATIC
  "${trials_dir}/mooncake_trace.cpp"
  "${trials_dir}/trials_cells.cpp"
  "${trials_dir}/trials_checker.cpp"
  "${trials_dir}/trials_child.cpp"
  "${trials_dir}/trials_concurrent.cpp"
  "${trials_dir}/trials_finder.cpp"
  "${trials_dir}/trials_kill.cpp"
  "${trials_dir}/trials_lifecycle.cpp"
  "${trials_dir}/trials_mooncake.cpp"
  "${trials_dir}/trials_mutants.cpp"
  "${trials_dir}/trials_oracle.cpp"
  "${trials_dir}/trials_races.cpp"
  "${trials_dir}/trials_table.cpp")
weir_target_flags(weir_anifilter_trials)
target_include_directories(weir_anifilter_trials PUBLIC "${PROJECT_SOURCE_DIR}/bench")
target_compile_definitions(weir_anifilter_trials PRIVATE WEIR_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(weir_anifilter_trials PUBLIC weir::weir)
