// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "anifilter/trials_crash.hpp"

namespace weir::anifilter::trials {
namespace {

// The cells most likely to meet a fault come first; the others follow in their order.
std::vector<CellKind> likely_cells(Fault fault) {
  switch (fault) {
    case Fault::no_overflow_bit:
    case Fault::overflow_bit_after_copy:
    case Fault::no_flush_of_second_line:
      return {CellKind::secondary};
    case Fault::torn_update:
      return {CellKind::spill};
    case Fault::header_before_data:
      return {CellKind::create};
    case Fault::recovery_skips_log:
    case Fault::recovery_keeps_log:
    case Fault::no_occupancy_update:
      return {CellKind::recovery, CellKind::spill};
    default:
      return {CellKind::lookahead, CellKind::path2, CellKind::batch};
  }
}

}  // namespace

MutantResult hunt_mutant(Fault fault, std::uint64_t states_per_cell, std::uint64_t seed) {
  std::vector<CellOptions> cells = all_cells();
  const std::vector<CellKind> likely = likely_cells(fault);
  const bool about_log = fault == Fault::early_log_clear || fault == Fault::recovery_skips_log ||
                         fault == Fault::recovery_keeps_log;
  std::ranges::stable_sort(cells, {}, [&](const CellOptions& cell) {
    const bool no_log = about_log && cell.consistency == Consistency::relaxed;
    return std::pair(no_log, std::ranges::find(likely, cell.kind) - likely.begin());
  });
  MutantResult result;
  result.fault = fault;
  for (CellOptions& cell : cells) {
    cell.fault = fault;
    cell.states = states_per_cell;
    cell.tables = 1;
    cell.deep_every = 4;
    cell.seed += seed;
    const CellResult found = run_cell(cell);
    result.states += found.states;
    if (found.failures == 0) continue;
    result.caught = true;
    result.cell = name_of(cell);
    result.message = found.first_failure;
    break;
  }
  return result;
}

}  // namespace weir::anifilter::trials
