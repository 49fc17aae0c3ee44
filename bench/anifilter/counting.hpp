// SPDX-License-Identifier: Apache-2.0
// Costs in events rather than in time: the same on every machine.
#pragma once
#include "anifilter/setup.hpp"

namespace weir::bench {

inline constexpr unsigned kCountedLog2Slots = 20;

/// Events of a part of a run, per key.
struct PerKey {
  double lines = 0;
  double words = 0;
  double flushes = 0;
  double fences = 0;
};

/// Counts what `body` does with `keys` keys to a table in this region.
template <class Body>
PerKey count_per_key(PersistentRegion& region, std::uint64_t keys, Body&& body) {
  region.counter()->reset();
  body();
  const AccessCounts counts = region.counter()->total();
  const auto per_key = [&](std::uint64_t events) {
    return static_cast<double>(events) / static_cast<double>(keys);
  };
  return {per_key(counts.lines_read), per_key(counts.words_written), per_key(counts.flushes),
          per_key(counts.fences)};
}

/// What a whole fill and lookups at its end cost.
struct Costs {
  PerKey fill;      ///< inserts from 0 to 95 %
  PerKey window;    ///< inserts from 92.5 to 95 %
  PerKey negative;  ///< lookups at 95 %
  PerKey positive;
};

inline constexpr std::uint64_t kCountedLookups = std::uint64_t{1} << 18;

/// Fills `filter` (in `region`) to 95 % and looks up, single operations. Throws Error when full.
template <class AnyFilter>
Costs count_costs(AnyFilter& filter, PersistentRegion& region, const Keys& keys) {
  const std::uint64_t slots = filter.slots();
  const std::uint64_t window = part_of(slots, 0.925);
  const std::uint64_t end = part_of(slots, 0.95);
  Costs costs;
  const PerKey before =
      count_per_key(region, end, [&] { timed_insert(filter, keys, 0, window, Form::single); });
  costs.window = count_per_key(region, end - window,
                               [&] { timed_insert(filter, keys, window, end, Form::single); });
  const double share = static_cast<double>(end - window) / static_cast<double>(end);
  costs.fill = {
      before.lines + costs.window.lines * share, before.words + costs.window.words * share,
      before.flushes + costs.window.flushes * share, before.fences + costs.window.fences * share};
  const auto look_up = [&](bool negative) {
    std::uint64_t found = 0;
    Rng rng(1);
    const PerKey cost = count_per_key(region, kCountedLookups, [&] {
      for (std::uint64_t i = 0; i < kCountedLookups; ++i)
        found += filter.contains(negative ? keys.absent(i) : keys.present(rng.below(end)));
    });
    if (!negative && found != kCountedLookups) throw Error("a counted filter lost keys");
    return cost;
  };
  costs.negative = look_up(true);
  costs.positive = look_up(false);
  return costs;
}

/// The costs of AniFilter with these options in a table of 2^20 slots.
Costs count_ours(const anifilter::Options& options, const Keys& keys);

/// Load at the first single insert that does not fit.
double load_at_first_full(const anifilter::Options& options, const Keys& keys);

}  // namespace weir::bench
