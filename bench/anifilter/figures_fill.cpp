// SPDX-License-Identifier: Apache-2.0
// Filling a table from empty to 95 % in batches of 64.
#include "anifilter/figures.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

template <class Table, class AnyFilter>
double fill(Table& table, AnyFilter& filter, const Keys& keys) {
  table.clear();
  const std::uint64_t count = part_of(filter->slots(), 0.95);
  return mops(count, timed_insert(*filter, keys, 0, count, Form::batched));
}

void fill_at(unsigned log2_slots, std::size_t rounds, Figures& figures, const RunOptions& options) {
  const std::string size = text("_%u", log2_slots);
  const Keys keys(options.seed);
  const auto settings = cuckoo_settings(log2_slots, options.seed);
  Ours ours(filter_options(log2_slots));
  Theirs<cuckoo::PublishedCuckoo<FlushFreeAccess>> published(settings);
  Theirs<cuckoo::InterleavedCuckoo<FlushFreeAccess>> interleaved(settings);
  Theirs<cuckoo::LookaheadCuckoo<FlushFreeAccess>> lookahead(settings);

  Filter* const filter = &ours.filter;
  const std::array<std::function<double()>, 4> rivals{
      [&] { return fill(ours, filter, keys); },
      [&] { return fill(published, published.filter, keys); },
      [&] { return fill(interleaved, interleaved.filter, keys); },
      [&] { return fill(lookahead, lookahead.filter, keys); }};
  const Rounds result = run_rounds(rounds, rivals);

  const Figure common{
      .baseline =
          "cuckoo 4x12 as published, batches with both buckets prefetched, no flush, same run",
      .reference = "AniFilter paper: 2.6 x on average (NVM, parallel)",
      .config = describe(text("5x12, 2^%u slots, 0 to 95 %%, batches of 64, 1 thread", log2_slots),
                         *ours.region)};
  add_ratio(figures, "fill_95_vs_cuckoo" + size, result, 1, common);
  add_rate(figures, "fill_95_mops" + size, result, 0, common);
  Figure rival = common;
  rival.config =
      describe(text("cuckoo 4x12, 2^%u slots, 0 to 95 %%, batches of 64, 1 thread", log2_slots),
               *published.region);
  add_rate(figures, "fill_95_mops" + size + "_cuckoo", result, 1, rival);

  Figure beside = common;
  beside.reference.clear();
  beside.baseline =
      "cuckoo 4x12, the random walks of a batch take turns (not as published; a crash loses up to "
      "64 acknowledged keys), no flush, same run";
  add_ratio(figures, "fill_95_vs_cuckoo_interleaved" + size, result, 2, beside);
  add_rate(figures, "fill_95_mops" + size + "_cuckoo_interleaved", result, 2, rival);
  beside.baseline = "cuckoo 4x12 with breadth-first lookahead (not as published), same run";
  add_ratio(figures, "fill_95_vs_cuckoo_lookahead" + size, result, 3, beside);
  add_rate(figures, "fill_95_mops" + size + "_cuckoo_lookahead", result, 3, rival);

  check_present(figures, ours.filter, keys, part_of(filter->slots(), 0.95), "AniFilter");
  check_present(figures, *published.filter, keys, part_of(published.filter->slots(), 0.95),
                "the cuckoo filter");
  check_equal_fpr(figures, ours.filter, *published.filter, keys);
}

}  // namespace

void run_fill_figures(Figures& figures, const RunOptions& options) {
  if (figures.wants("fill_95_vs_cuckoo_24")) fill_at(24, options.full ? 7 : 3, figures, options);
  if (options.full && figures.wants("fill_95_vs_cuckoo_27")) fill_at(27, 3, figures, options);
}

}  // namespace weir::bench
