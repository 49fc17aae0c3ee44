// SPDX-License-Identifier: Apache-2.0
// What a power failure may leave of the rival: nothing is lost by the crash-safe walk and by the
// lookahead variant, and the explorer sees that the published walk loses the tag in hand.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/rng.hpp"

#include "baselines/cuckoo_filter.hpp"

namespace weir::bench::cuckoo {
namespace {

constexpr std::uint64_t kBuckets = 16;

std::uint64_t key(std::uint64_t table, std::uint64_t i) { return splitmix64(table << 20 | i); }

/// Fills a table, records its last inserts up to full, and explores every crash in them.
template <class Filter>
CrashResult explore(std::uint64_t table) {
  RecordedRegion region(Filter::region_size(kBuckets));
  const Settings settings{kBuckets, 500, table};
  Filter filter(region, settings);
  constexpr std::uint64_t kUnrecorded = kBuckets * kSlots * 3 / 4;
  for (std::uint64_t i = 0; i < kUnrecorded; ++i) filter.insert(key(table, i));
  region.recorder()->restart();
  std::size_t operations = 0;
  for (std::uint64_t i = kUnrecorded; i < kBuckets * kSlots; ++i, ++operations) {
    region.recorder()->begin(operations);
    if (!filter.insert(key(table, i))) break;
    region.recorder()->acknowledge(operations);
  }
  CrashExplorer explorer({.exhaustive_limit = 256, .samples = 64, .seed = table});
  return explorer.explore(region, [&](std::span<std::byte> image, const CrashPoint& point) {
    RecordedRegion survivor(image);
    const Filter recovered(survivor, settings);
    for (std::uint64_t i = 0; i < kUnrecorded; ++i)
      if (!recovered.contains(key(table, i))) return "lost old key " + std::to_string(i);
    for (std::size_t i = 0; i < point.operations.size(); ++i)
      if (point.operations[i] == OperationState::acknowledged &&
          !recovered.contains(key(table, kUnrecorded + i)))
        return "lost acknowledged key " + std::to_string(i);
    return std::string();
  });
}

template <class Filter>
CrashResult explore_many() {
  CrashResult total;
  for (std::uint64_t table = 1; table <= 20; ++table) total += explore<Filter>(table);
  return total;
}

TEST(CuckooCrash, TheRecordedWalkLosesNothing) {
  const CrashResult result = explore_many<CrashSafeCuckoo<RecordingAccess>>();
  EXPECT_EQ(result.failures, 0u) << result.first_failure;
  EXPECT_GT(result.states, 500u);
}

TEST(CuckooCrash, TheLookaheadVariantLosesNothing) {
  const CrashResult result = explore_many<LookaheadCuckoo<RecordingAccess>>();
  EXPECT_EQ(result.failures, 0u) << result.first_failure;
  EXPECT_GT(result.states, 500u);
}

TEST(CuckooCrash, ThePublishedWalkLosesTheTagInHand) {
  const CrashResult result = explore_many<PublishedCuckoo<RecordingAccess>>();
  EXPECT_GT(result.failures, 0u);
}

}  // namespace
}  // namespace weir::bench::cuckoo
