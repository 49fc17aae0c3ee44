// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_races.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "anifilter/trials_finder.hpp"

namespace weir::anifilter::trials {
namespace {

struct Race {
  std::vector<Operation> changes;
  std::vector<std::uint64_t> lookups;  ///< keys that are there all the time
};

// What the writer does, and the keys that it moves.
Race plan(Table& table, Rng& rng, RaceResult& result) {
  PlannedErases erases;
  Finder finder(table, rng, erases);
  Race race;
  constexpr CellKind kKinds[] = {CellKind::lookahead, CellKind::path2, CellKind::lookahead,
                                 CellKind::erase, CellKind::batch};
  const std::uint64_t wanted = 1 + rng.below(4);
  for (std::uint64_t i = 0; i < wanted; ++i)
    if (auto operation = finder.find(kKinds[rng.below(std::size(kKinds))]))
      race.changes.push_back(std::move(*operation));

  // Readers of a group that loses a copy may miss it: by then it may have none.
  erases.resize(table.model.groups().size() * 2);
  const auto add = [&](const KeyModel::Side& side) {
    const KeyModel::Group& group = table.model.groups()[side.group];
    if (erases[side.group * 2] + erases[side.group * 2 + 1] != 0) return false;
    if (group.least[side.side] <= 0 || !group.known[side.side]) return false;
    race.lookups.push_back(group.key[side.side]);
    return true;
  };
  for (const Resident& victim : finder.moved()) {
    KeyModel::Side side{};
    if (!table.model.find(victim.home, victim.fingerprint, side)) continue;
    if (add(side)) ++result.moves;
    if (add({side.group, 1 - side.side})) {  // it was in its secondary bucket
      ++result.moves;
      ++result.moves_to_prime;
    }
  }
  for (int i = 0; i < 3; ++i)
    if (const auto key = table.resident_key(rng)) {
      const Location place = finder.locate(*key);
      KeyModel::Side side{};
      if (table.model.find(static_cast<std::uint32_t>(place.prime), place.fingerprint, side))
        add(side);
    }
  return race;
}

}  // namespace

RaceResult run_lookup_races(std::uint64_t runs, std::uint64_t seed) {
  RaceResult result;
  for (std::uint64_t number = 0; result.runs < runs && result.problem.empty(); ++number) {
    Rng rng(splitmix64(seed * 1'000'003 + number));
    TableRange range;
    range.consistency = rng.below(2) == 0 ? Consistency::strict : Consistency::relaxed;
    range.most_buckets = 24;
    range.least_load = 0.85;
    Table table = make_table(rng, range);
    Race race = plan(table, rng, result);
    if (race.changes.empty() || race.lookups.empty()) continue;
    // The same plan under a few interleavings.
    for (int repeat = 0; repeat < 8 && result.problem.empty(); ++repeat) {
      RecordedRegion region(table.image.view(), FlushInstruction::none);
      Filter filter = Filter::open(region);
      const RecordingAccess access(region);
      bool writing = true;  // only the body whose turn it is runs
      const auto writer = [&] {
        for (Operation& operation : race.changes) run(filter, operation);
        writing = false;
        access.pause();
      };
      const auto reader = [&] {
        std::uint64_t rounds = 0;
        do {
          for (const std::uint64_t key : race.lookups) {
            ++result.lookups;
            if (filter.contains(key)) continue;
            ++result.false_negatives;
            result.problem = "lookup race, seed " + std::to_string(seed) + ", table " +
                             std::to_string(number) + ", repeat " + std::to_string(repeat) +
                             ": key " + std::to_string(key) + " is there and was not found";
          }
        } while (writing && ++rounds < 40);
      };
      const std::function<void()> bodies[] = {writer, reader};
      run_interleaved(region, bodies, rng(), 0.6 * std::pow(0.05, rng.uniform()));
      ++result.runs;
    }
  }
  return result;
}

}  // namespace weir::anifilter::trials
