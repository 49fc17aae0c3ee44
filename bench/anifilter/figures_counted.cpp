// SPDX-License-Identifier: Apache-2.0
// Lines, words, flushes and fences of AniFilter's operations, over three seeds.
#include "anifilter/counting.hpp"
#include "anifilter/figures.hpp"

namespace weir::bench {
namespace {

template <class Member>
Spread over(const std::vector<Costs>& runs, const Member& member) {
  std::vector<double> values;
  for (const Costs& run : runs) values.push_back(member(run));
  return spread_of(std::move(values));
}

double count_batched_fences(const Keys& keys) {
  const auto options = filter_options(kCountedLog2Slots);
  Ours ours(make_counting_region(Filter::region_size(options)), options);
  const std::uint64_t end = part_of(ours.filter.slots(), 0.95);
  return count_per_key(*ours.region, end,
                       [&] { timed_insert(ours.filter, keys, 0, end, Form::batched); })
      .fences;
}

}  // namespace

void run_counted_figures(Figures& figures, const RunOptions& options) {
  const std::string table = "5x12, 2^20 slots, relaxed, ";
  const auto add = [&](const char* name, const char* unit, const Spread& spread,
                       const std::string& config, const char* reference) {
    Figure figure{.name = name,
                  .unit = unit,
                  .kind = Kind::counted,
                  .better = Better::lower,
                  .reference = reference,
                  .config = table + config};
    figures.add(figure.over(spread));
  };
  std::vector<Costs> runs;
  std::vector<double> batched;
  for (std::uint64_t seed = options.seed; seed < options.seed + 3; ++seed) {
    runs.push_back(count_ours(filter_options(kCountedLog2Slots), Keys(seed)));
    batched.push_back(count_batched_fences(Keys(seed)));
  }
  const std::string window = "single inserts from 92.5 to 95 %";
  add("lines_read_per_insert_925_95", "lines",
      over(runs, [](const Costs& c) { return c.window.lines; }), window,
      "cuckoo as published: 17.1");
  add("words_written_per_insert_925_95", "words",
      over(runs, [](const Costs& c) { return c.window.words; }), window,
      "cuckoo as published: 16.4");
  const std::string fill = "single inserts from 0 to 95 %";
  add("flushes_per_insert_95", "flushes", over(runs, [](const Costs& c) { return c.fill.flushes; }),
      fill, "");
  add("fences_per_insert_95", "fences", over(runs, [](const Costs& c) { return c.fill.fences; }),
      fill, "");
  add("lines_read_per_insert_95", "lines", over(runs, [](const Costs& c) { return c.fill.lines; }),
      fill, "");
  add("words_written_per_insert_95", "words",
      over(runs, [](const Costs& c) { return c.fill.words; }), fill, "cuckoo as published: 2.00");
  add("fences_per_insert_batched", "fences", spread_of(batched), "batches of 64 from 0 to 95 %",
      "");
  add("neg_lines_95", "lines", over(runs, [](const Costs& c) { return c.negative.lines; }),
      "absent keys at 95 %", "cuckoo: 2.00");
  add("pos_lines_95", "lines", over(runs, [](const Costs& c) { return c.positive.lines; }),
      "present keys at 95 %", "cuckoo: 1.43");
}

}  // namespace weir::bench
