// SPDX-License-Identifier: Apache-2.0
// Single inserts where a cuckoo filter hurts most: from 93 to 95 % load.
#include "anifilter/figures.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

using Published = cuckoo::PublishedCuckoo<FlushFreeAccess>;
using Lookahead = cuckoo::LookaheadCuckoo<FlushFreeAccess>;

template <class Cuckoo>
double insert_window(Saved& table, cuckoo::Settings settings, const Keys& keys) {
  table.restore();
  settings.adopt = true;
  Cuckoo filter(*table.region, settings);
  const std::uint64_t from = part_of(table.slots, 0.93);
  const std::uint64_t to = part_of(table.slots, 0.95);
  return mops(to - from, timed_insert(filter, keys, from, to, Form::single));
}

double insert_window(Saved& table, const Keys& keys) {
  table.restore();
  Filter filter = Filter::open(*table.region);
  const std::uint64_t from = part_of(table.slots, 0.93);
  const std::uint64_t to = part_of(table.slots, 0.95);
  return mops(to - from, timed_insert(filter, keys, from, to, Form::single));
}

void insert_at(unsigned log2_slots, std::size_t rounds, Figures& figures,
               const RunOptions& options) {
  const std::string size = text("_%u", log2_slots);
  const Keys keys(options.seed);
  const auto settings = cuckoo_settings(log2_slots, options.seed);
  Saved ours = ours_at(0.93, filter_options(log2_slots), FlushInstruction::none, keys);
  Saved theirs = cuckoo_at(0.93, settings, FlushInstruction::none, keys);

  const std::array<std::function<double()>, 3> rivals{
      [&] { return insert_window(ours, keys); },
      [&] { return insert_window<Published>(theirs, settings, keys); },
      [&] { return insert_window<Lookahead>(theirs, settings, keys); }};
  const Rounds result = run_rounds(rounds, rivals);

  const Figure common{
      .baseline = "cuckoo 4x12 as published, single inserts, no flush, same run",
      .reference = "AniFilter paper: up to 10.7 x, 2.6 x on average (NVM, parallel)",
      .config =
          describe(text("5x12, 2^%u slots, 93 to 95 %%, single inserts, 1 thread", log2_slots),
                   *ours.region)};
  add_ratio(figures, "insert_93_95_vs_cuckoo" + size, result, 1, common);
  add_rate(figures, "insert_93_95_mops" + size, result, 0, common);
  Figure rival = common;
  rival.config =
      describe(text("cuckoo 4x12, 2^%u slots, 93 to 95 %%, single inserts, 1 thread", log2_slots),
               *theirs.region);
  add_rate(figures, "insert_93_95_mops" + size + "_cuckoo", result, 1, rival);
  Figure lookahead = common;
  lookahead.baseline = "cuckoo 4x12 with breadth-first lookahead (not as published), same run";
  lookahead.reference.clear();
  add_ratio(figures, "insert_93_95_vs_cuckoo_lookahead" + size, result, 2, lookahead);
  add_rate(figures, "insert_93_95_mops" + size + "_cuckoo_lookahead", result, 2, rival);

  // The rounds left ours at 95 %; the rival's last round was the lookahead variant's.
  const Filter filter = Filter::open(*ours.region);
  insert_window<Published>(theirs, settings, keys);
  cuckoo::Settings adopt = settings;
  adopt.adopt = true;
  const Published published(*theirs.region, adopt);
  check_present(figures, filter, keys, part_of(ours.slots, 0.95), "AniFilter");
  check_present(figures, published, keys, part_of(theirs.slots, 0.95), "the cuckoo filter");
  check_equal_fpr(figures, filter, published, keys);
}

}  // namespace

void run_insert_figures(Figures& figures, const RunOptions& options) {
  if (figures.wants("insert_93_95_vs_cuckoo_24"))
    insert_at(24, options.full ? 9 : 5, figures, options);
  if (options.full && figures.wants("insert_93_95_vs_cuckoo_27"))
    insert_at(27, 3, figures, options);
}

}  // namespace weir::bench
