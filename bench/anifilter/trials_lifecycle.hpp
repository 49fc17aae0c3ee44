// SPDX-License-Identifier: Apache-2.0
// The two cells that are not about an operation on a table: making one and recovering one. Also
// what all cells share while they run.
#pragma once
#include "anifilter/trials_crash.hpp"

namespace weir::anifilter::trials {

/// A cell while it runs.
struct CellRun {
  explicit CellRun(const CellOptions& cell) : options(cell) {}
  [[nodiscard]] bool done() const;
  /// `known_states`: how many of the states the run before has counted already.
  void add(const CrashResult& explored, StateChecker* checker, std::uint64_t known_states);
  void fail(const std::string& message, std::uint64_t failures = 1);
  [[nodiscard]] bool is_kind(std::span<const Word> before, const Filter& filter,
                             const Operation& operation) const;

  CellOptions options;
  CellResult result;
};

void run_create_cell(CellRun& run_state);
void run_recovery_cell(CellRun& run_state);

}  // namespace weir::anifilter::trials
