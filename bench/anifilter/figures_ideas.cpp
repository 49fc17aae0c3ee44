// SPDX-License-Identifier: Apache-2.0
// What each of the paper's three ideas gains: the same counts with one of them switched off.
#include "anifilter/counting.hpp"
#include "anifilter/figures.hpp"

namespace weir::bench {

void run_ideas_figures(Figures& figures, const RunOptions& options) {
  struct Variant {
    const char* name;
    const char* what;
    bool anifilter::Options::*idea;
  };
  static constexpr Variant kVariants[] = {
      {"no_spill", "without spillable buckets", &anifilter::Options::spillable_buckets},
      {"no_lookahead", "without lookahead eviction", &anifilter::Options::lookahead_eviction},
      {"no_primacy", "without bucket primacy", &anifilter::Options::bucket_primacy}};
  const Keys keys(options.seed);
  for (const Variant& variant : kVariants) {
    anifilter::Options off = filter_options(kCountedLog2Slots);
    off.*variant.idea = false;
    const std::string end = std::string("_") + variant.name;
    const auto add = [&](const std::string& name, const char* unit, double value,
                         const char* config, Better better) {
      figures.add({.name = name + end,
                   .value = value,
                   .unit = unit,
                   .kind = Kind::counted,
                   .better = better,
                   .config = std::string("5x12, 2^20 slots, ") + variant.what + ", " + config});
    };
    try {
      const Costs costs = count_ours(off, keys);
      const char* window = "single inserts from 92.5 to 95 %";
      add("lines_read_per_insert_925_95", "lines", costs.window.lines, window, Better::lower);
      add("words_written_per_insert_925_95", "words", costs.window.words, window, Better::lower);
      add("fences_per_insert_95", "fences", costs.fill.fences, "single inserts from 0 to 95 %",
          Better::lower);
      add("neg_lines_95", "lines", costs.negative.lines, "absent keys at 95 %", Better::lower);
      add("pos_lines_95", "lines", costs.positive.lines, "present keys at 95 %", Better::lower);
    } catch (const Error& error) {
      figures.skip("lines_read_per_insert_925_95" + end, error.what());
    }
    add("max_load_20", "load", load_at_first_full(off, keys), "load at the first insert that fails",
        Better::higher);
  }
}

}  // namespace weir::bench
