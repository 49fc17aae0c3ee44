// SPDX-License-Identifier: Apache-2.0
// How full a filter gets before the first insert fails: the least of several seeds.
#include "anifilter/counting.hpp"
#include "anifilter/figures.hpp"

namespace weir::bench {
namespace {

void max_load_at(unsigned log2_slots, std::uint64_t seeds, Figures& figures,
                 const RunOptions& options) {
  std::vector<double> loads;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    anifilter::Options filter = filter_options(log2_slots);
    filter.hash_seed = options.seed + seed;
    loads.push_back(load_at_first_full(filter, Keys(options.seed + seed)));
  }
  const Spread spread = spread_of(loads);
  Figure figure{.name = text("max_load_min_20_seeds_%u", log2_slots),
                .unit = "load",
                .kind = Kind::counted,
                .reference = "cuckoo 4x12 with 500 kicks: 0.960 at 2^20, 0.9485 at 2^27",
                .config = text("5x12, 2^%u slots, least of %llu seeds, single inserts", log2_slots,
                               static_cast<unsigned long long>(seeds))};
  figure.over(spread).value = spread.min;
  figures.add(figure);
}

}  // namespace

void run_max_load_figures(Figures& figures, const RunOptions& options) {
  if (figures.wants("max_load_min_20_seeds_20")) max_load_at(20, 20, figures, options);
  if (figures.wants("max_load_min_20_seeds_24"))
    max_load_at(24, options.full ? 20 : 3, figures, options);
}

}  // namespace weir::bench
