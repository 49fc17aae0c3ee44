// SPDX-License-Identifier: Apache-2.0
// The rival's own counted costs, which show that it is the published filter.
#include "anifilter/counting.hpp"
#include "anifilter/figures.hpp"

namespace weir::bench {
namespace {

constexpr std::uint64_t kBuckets = (std::uint64_t{1} << kCountedLog2Slots) / cuckoo::kSlots;

template <class Cuckoo>
Costs count(unsigned max_kicks, std::uint64_t seed) {
  const auto region = make_counting_region(Cuckoo::region_size(kBuckets));
  Cuckoo filter(*region, {kBuckets, max_kicks, seed});
  return count_costs(filter, *region, Keys(seed));
}

double load_at_500_kicks(std::uint64_t seed) {
  Theirs<cuckoo::PublishedCuckoo<FlushFreeAccess>> theirs({kBuckets, 500, seed});
  const Keys keys(seed);
  std::uint64_t inserted = 0;
  while (theirs.filter->insert(keys.present(inserted))) ++inserted;
  return theirs.filter->load_factor();
}

}  // namespace

void run_rival_figures(Figures& figures, const RunOptions& options) {
  const auto add = [&](const std::string& name, const char* unit, double value,
                       const std::string& config, Better better = Better::lower) {
    figures.add({.name = name,
                 .value = value,
                 .unit = unit,
                 .kind = Kind::counted,
                 .better = better,
                 .config = "cuckoo 4x12, 2^20 slots, " + config});
  };
  const auto add_window = [&](const std::string& name, const Costs& costs,
                              const std::string& config) {
    add(name + "_lines_read_per_insert_925_95", "lines", costs.window.lines, config);
    add(name + "_words_written_per_insert_925_95", "words", costs.window.words, config);
    add(name + "_fences_per_insert_95", "fences", costs.fill.fences, config);
  };
  const Costs published = count<cuckoo::PublishedCuckoo<CountingAccess>>(500, options.seed);
  add_window("cuckoo", published, "as published, 500 kicks");
  add("cuckoo_neg_lines_95", "lines", published.negative.lines, "absent keys at 95 %");
  add("cuckoo_pos_lines_95", "lines", published.positive.lines, "present keys at 95 %");
  add_window("cuckoo_safe", count<cuckoo::CrashSafeCuckoo<CountingAccess>>(500, options.seed),
             "crash-safe walk, 500 kicks");
  add_window("cuckoo_lookahead", count<cuckoo::LookaheadCuckoo<CountingAccess>>(500, options.seed),
             "breadth-first lookahead");
  add("cuckoo_max_load_20", "load", load_at_500_kicks(options.seed), "as published, 500 kicks",
      Better::higher);
}

}  // namespace weir::bench
