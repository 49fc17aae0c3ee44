// SPDX-License-Identifier: Apache-2.0
// One thread stores a key and has not fenced yet; another one evicts that very key. What outlives a
// crash must be the key or nothing, not a copy of it where no lookup goes.
#include <algorithm>

#include <gtest/gtest.h>

#include "anifilter/trials_crash.hpp"
#include "anifilter/trials_finder.hpp"

namespace weir::anifilter::trials {
namespace {

constexpr std::size_t kTableOffset = 8192;

struct Race {
  Table table;
  std::vector<Operation> operations;  ///< the insert, and the one that evicts its key
};

/// Looks for a key that fills its bucket's last slot and a second key whose insert evicts it.
std::optional<Race> find_race(Rng& rng, Consistency consistency) {
  TableRange range;
  range.consistency = consistency;
  range.least_buckets = range.most_buckets = 16;  // more than one line
  range.least_load = 0.8;
  range.most_load = 0.96;
  range.lookahead = true;
  Race race{make_table(rng, range), {}};
  PlannedErases erases;
  Finder finder(race.table, rng, erases);
  auto first = finder.find(CellKind::own);
  if (!first) return std::nullopt;
  const auto homes_of_first = [&](std::span<const Word> words) {
    const KeyModel::Group& group = race.table.model.groups()[first->sides[0].group];
    std::size_t count = 0;
    for (const Resident& r : decode(words, race.table.layout()))
      count += r.home == group.bucket[first->sides[0].side] && r.fingerprint == group.fingerprint;
    return count;
  };
  const std::size_t before = homes_of_first(finder.words());
  auto second = finder.find(CellKind::lookahead);
  if (!second || homes_of_first(finder.words()) >= before) return std::nullopt;
  race.operations = {std::move(*first), std::move(*second)};
  return race;
}

/// The eviction copied while the first thread stood between its flush and its fence.
bool is_close(std::span<const CrashEvent> events) {
  const auto first_store = std::ranges::find(events, CrashEvent::Kind::store, &CrashEvent::kind);
  if (first_store == events.end()) return false;
  const auto line_of = [](const CrashEvent& event) { return event.index / kWordsPerLine; };
  bool copied = false;
  for (auto event = first_store; event != events.end(); ++event) {
    if (event->thread == first_store->thread) {
      if (event->kind == CrashEvent::Kind::fence) return copied;
    } else if (event->kind == CrashEvent::Kind::store &&
               event->index * sizeof(Word) >= kTableOffset &&
               line_of(*event) != line_of(*first_store)) {
      copied = true;
    }
  }
  return false;
}

class EvictionRace : public testing::TestWithParam<Consistency> {};

TEST_P(EvictionRace, LeavesTheKeyOrNothing) {
  Rng rng(1);
  int races = 0;
  int close = 0;
  for (int attempt = 0; attempt < 20'000 && races < 12; ++attempt) {
    auto race = find_race(rng, GetParam());
    if (!race) continue;
    ++races;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      RecordedRegion region(race->table.image.view());
      Filter filter = Filter::open(region);
      region.recorder()->restart();
      const auto body = [&](std::size_t id) {
        region.recorder()->begin(id);
        run(filter, race->operations[id]);
        region.recorder()->acknowledge(id);
      };
      const std::function<void()> bodies[] = {[&] { body(0); }, [&] { body(1); }};
      // Seldom, so that the second thread comes far while the first one stands before its fence.
      run_interleaved(region, bodies, seed, 0.04);
      if (!is_close(region.recorder()->events())) continue;
      ++close;
      StateChecker checker(race->table, race->operations, {GetParam(), 16, Fault::none, seed});
      const CrashResult result = CrashExplorer().explore(region, std::ref(checker));
      ASSERT_EQ(result.failures, 0u) << result.first_failure;
    }
  }
  EXPECT_EQ(races, 12);
  EXPECT_GE(close, 5);
}

INSTANTIATE_TEST_SUITE_P(Every, EvictionRace,
                         testing::Values(Consistency::relaxed, Consistency::strict),
                         [](const testing::TestParamInfo<Consistency>& mode) {
                           return mode.param == Consistency::strict ? "Strict" : "Relaxed";
                         });

}  // namespace
}  // namespace weir::anifilter::trials
