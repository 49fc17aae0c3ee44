// SPDX-License-Identifier: Apache-2.0
// The states that the explorer tries, against the definition of Px86 spelled out naively.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/rng.hpp"

namespace weir {
namespace {

using namespace weir::literals;

using States = std::vector<OperationState>;
using Tried = std::set<std::pair<std::vector<std::byte>, States>>;

/// What may be left after the first `event` events, straight from the definition: for each line the
/// stores so far, and how many of them some flush captured that its thread has fenced since.
void add_legal(std::span<const std::byte> base, std::span<const CrashEvent> events, States states,
               Tried& legal) {
  std::map<std::uint64_t, std::vector<CrashEvent>> stores;
  std::map<std::uint64_t, std::size_t> least;
  std::fill(states.begin(), states.end(), OperationState::not_begun);
  for (std::size_t e = 0; e < events.size(); ++e) {
    const CrashEvent& event = events[e];
    if (event.kind == CrashEvent::Kind::store) {
      stores[event.index / kWordsPerLine].push_back(event);
    } else if (event.kind == CrashEvent::Kind::begin) {
      states[event.index] = OperationState::in_flight;
    } else if (event.kind == CrashEvent::Kind::acknowledge) {
      states[event.index] = OperationState::acknowledged;
    } else if (event.kind == CrashEvent::Kind::flush) {
      const bool fenced = std::any_of(events.begin() + static_cast<std::ptrdiff_t>(e), events.end(),
                                      [&](const CrashEvent& later) {
                                        return later.kind == CrashEvent::Kind::fence &&
                                               later.thread == event.thread;
                                      });
      if (fenced) least[event.index] = std::max(least[event.index], stores[event.index].size());
    }
  }
  std::vector<std::vector<std::byte>> images{{base.begin(), base.end()}};
  for (const auto& [line, list] : stores) {
    std::vector<std::vector<std::byte>> longer;
    for (const auto& image : images)
      for (std::size_t kept = least[line]; kept <= list.size(); ++kept) {
        auto next = image;
        for (std::size_t s = 0; s < kept; ++s)
          std::memcpy(next.data() + list[s].index * sizeof(Word), &list[s].value, sizeof(Word));
        longer.push_back(std::move(next));
      }
    images = std::move(longer);
  }
  for (auto& image : images) legal.emplace(std::move(image), states);
}

/// A random log of two threads over three lines.
void record_random(RecordedRegion& region, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::function<void()>> bodies;
  for (std::size_t t = 0; t < 2; ++t)
    bodies.emplace_back([&region, t, mine = Rng(rng())]() mutable {
      const RecordingAccess access(region);
      Word* words = reinterpret_cast<Word*>(region.bytes().data());
      for (int step = 0; step < 8; ++step) {
        Word* p = words + mine.below(3) * kWordsPerLine + mine.below(2);
        const std::uint64_t action = mine.below(10);
        if (action < 5)
          access.store(p, mine.below(3));  // few values, so that some stores change nothing
        else if (action < 7)
          access.flush(p);
        else if (action < 8)
          access.fence();
        else if (action < 9)
          region.recorder()->begin(2 * t + mine.below(2));
        else
          region.recorder()->acknowledge(2 * t + mine.below(2));
      }
    });
  run_interleaved(region, bodies, rng(), 0.5);
}

TEST(CrashImagesOracle, ExplorerTriesExactlyTheLegalStates) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RecordedRegion region(256_B);
    record_random(region, seed);
    Tried tried, sampled, legal;
    States states;
    const auto collect = [&](Tried& into) {
      return [&](std::span<std::byte> image, const CrashPoint& point) {
        states.assign(point.operations.begin(), point.operations.end());
        into.emplace(std::vector<std::byte>(image.begin(), image.end()), states);
        return "";
      };
    };
    const auto all = CrashExplorer().explore(region, collect(tried));
    const auto some =
        CrashExplorer({.exhaustive_limit = 3, .samples = 5}).explore(region, collect(sampled));
    const std::span<const CrashEvent> events = region.recorder()->events();
    for (std::size_t event = 0; event <= events.size(); ++event)
      add_legal(region.recorder()->base(), events.first(event), states, legal);
    ASSERT_EQ(all.sampled_points, 0u);
    ASSERT_EQ(tried, legal) << "seed " << seed;
    ASSERT_EQ(all.states, legal.size());  // each once
    ASSERT_EQ(some.states, sampled.size());
    ASSERT_TRUE(std::includes(legal.begin(), legal.end(), sampled.begin(), sampled.end()))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir
