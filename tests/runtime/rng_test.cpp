// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/rng.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace {

TEST(Splitmix64, MatchesReference) {
  static_assert(weir::splitmix64(0) == 0xE220A8397B1DCDAFu);
  EXPECT_EQ(weir::splitmix64(0x9E3779B97F4A7C15u), 0x6E789E6AA1B965F4u);
}

// From an implementation in Python that also gives the reference output for state 1, 2, 3, 4.
TEST(Rng, MatchesIndependentImplementation) {
  struct Case {
    std::uint64_t seed;
    std::array<std::uint64_t, 4> first;
  };
  constexpr Case kCases[] = {
      {0, {0x422EA740D0977210u, 0xE062B061B42E2928u, 0x5A071FC5930841B6u, 0x01334EF8ED3CC2BDu}},
      {1, {0xF9D20113EC80C6D5u, 0xD16E236E5CDC6563u, 0x68A40F278366062Au, 0x8FEE6A914B3BE91Cu}},
      {42, {0xBE15272CDF80B6C2u, 0xAF6E2EE49FF5D0E3u, 0xCA56EDD0338A318Fu, 0x4945F1D915AE1AF2u}},
      {~0ull, {0x3752BDAF106AFAECu, 0x4441CBC0FFEBC80Fu, 0x2A4EAA9FFEB08F42u, 0x5AD7434212C33BCCu}},
  };
  for (const Case& c : kCases) {
    weir::Rng rng(c.seed);
    for (const std::uint64_t expected : c.first) EXPECT_EQ(rng(), expected) << "seed " << c.seed;
  }
}

TEST(Rng, CopiesContinueAlike) {
  weir::Rng rng(7);
  rng();
  weir::Rng copy = rng;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng(), copy());
}

TEST(Rng, BelowStaysInRangeAndIsEven) {
  weir::Rng rng(3);
  EXPECT_EQ(rng.below(0), 0u);
  EXPECT_EQ(rng.below(1), 0u);
  std::array<int, 10> counts{};
  for (int i = 0; i < 10'000; ++i) ++counts.at(rng.below(10));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_LT(rng.below(~0ull), ~0ull);
}

TEST(Rng, UniformIsInUnitInterval) {
  weir::Rng rng(5);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = rng.uniform();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.015);  // 5 standard errors
}

TEST(Rng, DrivesStandardDistributions) {
  static_assert(std::uniform_random_bit_generator<weir::Rng>);
  weir::Rng rng(11);
  std::vector<int> values(100);
  for (int& value : values) value = std::uniform_int_distribution<int>(1, 6)(rng);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), 1);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 6);
}

}  // namespace
