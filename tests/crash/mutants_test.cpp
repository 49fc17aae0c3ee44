// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "anifilter/trials_crash.hpp"

namespace weir::anifilter::trials {
namespace {

class Mutant : public testing::TestWithParam<unsigned> {};

TEST_P(Mutant, IsCaught) {
  const auto fault = static_cast<Fault>(GetParam());
  const MutantResult result = hunt_mutant(fault, 3000, 1);
  EXPECT_TRUE(result.caught) << to_string(fault) << " after " << result.states << " states";
  EXPECT_NE(result.message, "");
}

INSTANTIATE_TEST_SUITE_P(Every, Mutant, testing::Range(1u, kFaultCount + 1),
                         [](const testing::TestParamInfo<unsigned>& mutant) {
                           return std::string(to_string(static_cast<Fault>(mutant.param)));
                         });

}  // namespace
}  // namespace weir::anifilter::trials
