// SPDX-License-Identifier: Apache-2.0
#include "weir/anifilter/filter.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "weir/runtime/cpu.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/rng.hpp"

namespace weir::anifilter {
namespace {

Options with_buckets(std::uint64_t buckets, Layout layout = Layout::k5x12) {
  Options options;
  options.buckets = buckets;
  options.layout = layout;
  return options;
}

Filter make_filter(const Options& options) {
  return Filter::create(make_memory_region(Filter::region_size(options)), options);
}

class EveryLayout : public testing::TestWithParam<Layout> {};

TEST_P(EveryLayout, FindsAllKeysWhenFilledUntilFull) {
  Filter filter = make_filter(with_buckets(1024, GetParam()));
  std::uint64_t n = 0;
  while (filter.insert(n) == InsertResult::inserted) ++n;
  EXPECT_GT(static_cast<double>(n) / static_cast<double>(filter.slots()), 0.95);
  EXPECT_EQ(filter.size(), n);
  for (std::uint64_t key = 0; key < n; ++key) ASSERT_TRUE(filter.contains(key)) << key;
  const VerifyReport report = filter.verify();
  EXPECT_TRUE(report.ok()) << report.problems.front();
}

TEST_P(EveryLayout, BatchesAgreeWithSingleCallsAtEveryInstructionSet) {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa > detected_isa()) continue;
    const ScopedIsa scope(isa);
    Filter filter = make_filter(with_buckets(4096, GetParam()));
    std::vector<std::uint64_t> keys(filter.slots() * 95 / 100);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = splitmix64(i);
    std::vector<InsertResult> inserted(keys.size());
    ASSERT_EQ(filter.insert(keys, inserted), keys.size());
    EXPECT_TRUE(filter.verify().ok());
    for (const std::uint64_t key : keys) ASSERT_TRUE(filter.contains(key));

    std::vector<std::uint64_t> queries(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) queries.push_back(splitmix64(~i));
    const auto found = std::make_unique<bool[]>(queries.size());
    filter.contains(queries, {found.get(), queries.size()});
    for (std::size_t i = 0; i < queries.size(); ++i)
      ASSERT_EQ(found[i], filter.contains(queries[i])) << to_string(isa) << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryLayout,
                         testing::Values(Layout::k7x8, Layout::k6x10, Layout::k5x12, Layout::k4x15,
                                         Layout::k3x20),
                         [](const auto& test) {
                           return "L" + std::string(anifilter::info(test.param).name);
                         });

}  // namespace
}  // namespace weir::anifilter
