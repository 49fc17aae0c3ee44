// SPDX-License-Identifier: Apache-2.0
// One thread stores a key and has not fenced yet; another one evicts that very key. What outlives a
// crash must be the key or nothing, not a copy of it where no lookup goes.
#include <gtest/gtest.h>

#include "anifilter/trials_crash.hpp"
#include "anifilter/trials_finder.hpp"

namespace weir::anifilter::trials {
namespace {

struct Race {
  Table table;
  std::vector<Operation> operations;  ///< the insert, and the one that evicts its key
};

/// Looks for a key that fills its bucket's last slot and a second key whose insert evicts it.
std::optional<Race> find_race(Rng& rng, Consistency consistency) {
  TableRange range;
  range.consistency = consistency;
  range.most_buckets = 8;
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

class EvictionRace : public testing::TestWithParam<Consistency> {};

TEST_P(EvictionRace, LeavesTheKeyOrNothing) {
  Rng rng(1);
  int races = 0;
  std::uint64_t states = 0;
  for (int attempt = 0; attempt < 20'000 && races < 12; ++attempt) {
    auto race = find_race(rng, GetParam());
    if (!race) continue;
    ++races;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      RecordedRegion region(race->table.image.view());
      Filter filter = Filter::open(region);
      region.recorder()->restart();
      const auto body = [&](std::size_t id) {
        region.recorder()->begin(id);
        run(filter, race->operations[id]);
        region.recorder()->acknowledge(id);
      };
      const std::function<void()> bodies[] = {[&] { body(0); }, [&] { body(1); }};
      run_interleaved(region, bodies, seed, 0.25);
      StateChecker checker(race->table, race->operations, {GetParam(), 16, Fault::none, seed});
      const CrashResult result = CrashExplorer().explore(region, std::ref(checker));
      ASSERT_EQ(result.failures, 0u) << result.first_failure;
      states += result.states;
    }
  }
  EXPECT_EQ(races, 12);
  EXPECT_GT(states, 500u);
}

INSTANTIATE_TEST_SUITE_P(Every, EvictionRace,
                         testing::Values(Consistency::relaxed, Consistency::strict),
                         [](const testing::TestParamInfo<Consistency>& mode) {
                           return mode.param == Consistency::strict ? "Strict" : "Relaxed";
                         });

}  // namespace
}  // namespace weir::anifilter::trials
