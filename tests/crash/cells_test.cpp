// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include <gtest/gtest.h>

#include "anifilter/trials_crash.hpp"

namespace weir::anifilter::trials {
namespace {

std::string cell_name(const testing::TestParamInfo<CellOptions>& cell) {
  return name_of(cell.param);
}

class CrashCell : public testing::TestWithParam<CellOptions> {};

TEST_P(CrashCell, RecoversToALegalTable) {
  CellOptions options = GetParam();
  options.states = 1200;
  options.tables = 12;
  const CellResult result = run_cell(options);
  EXPECT_EQ(result.failures, 0u) << result.first_failure;
  EXPECT_EQ(result.false_negatives, 0u);
  EXPECT_GE(result.states, options.states);
  EXPECT_GE(result.tables, options.tables);
  if (options.consistency == Consistency::strict) {
    EXPECT_EQ(result.surplus, 0u);
  }
  EXPECT_EQ(result.unlike, 0u);
}

INSTANTIATE_TEST_SUITE_P(Every, CrashCell, testing::ValuesIn(all_cells()), cell_name);

TEST(CrashCells, AreTheSameForTheSameSeed) {
  CellOptions options;
  options.kind = CellKind::secondary;
  options.consistency = Consistency::strict;
  options.threads = 2;
  options.states = 400;
  options.tables = 4;
  const CellResult once = run_cell(options);
  const CellResult again = run_cell(options);
  EXPECT_EQ(once.states, again.states);
  EXPECT_EQ(once.recordings, again.recordings);
  options.seed = 2;
  const CellResult other = run_cell(options);
  EXPECT_NE(std::tuple(other.states, other.recordings, other.operations),
            std::tuple(once.states, once.recordings, once.operations));
}

}  // namespace
}  // namespace weir::anifilter::trials
