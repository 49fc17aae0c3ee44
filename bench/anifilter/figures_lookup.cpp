// SPDX-License-Identifier: Apache-2.0
// Batched lookups at 95 % load. The rival knows both lines of a key up front and prefetches them;
// AniFilter reads 1.4 lines a negative, which pays where memory bandwidth is the limit.
#include "anifilter/figures.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

using Words = cuckoo::InterleavedCuckoo<FlushFreeAccess>;
using Packed = cuckoo::CuckooFilter<cuckoo::PackedBuckets, cuckoo::InterleavedWalk>;

struct Tables {
  Tables(unsigned log2_slots, std::uint64_t seed)
      : keys(seed),
        ours(filter_options(log2_slots)),
        words(cuckoo_settings(log2_slots, seed)),
        packed(cuckoo_settings(log2_slots, seed)) {
    timed_insert(ours.filter, keys, 0, present(ours.filter), Form::batched);
    timed_insert(*words.filter, keys, 0, present(*words.filter), Form::batched);
    timed_insert(*packed.filter, keys, 0, present(*packed.filter), Form::batched);
  }
  template <class AnyFilter>
  static std::uint64_t present(const AnyFilter& filter) {
    return part_of(filter.slots(), 0.95);
  }

  Keys keys;
  Ours ours;
  Theirs<Words> words;
  Theirs<Packed> packed;
};

/// One round of rates for each of the three tables.
Rounds measure(Tables& tables, bool negative, std::size_t call, std::size_t rounds,
               std::uint64_t count, Figures& figures) {
  std::uint64_t round = 0;
  const auto rate = [&](const auto& filter, const char* whose) {
    if (negative) return timed_absent(filter, tables.keys, round++ * count, count, call).mops();
    const TimedLookups lookups =
        timed_present(filter, tables.keys, Tables::present(filter), ++round, count, call);
    figures.check(lookups.found == lookups.lookups, std::string(whose) + " lost keys");
    return lookups.mops();
  };
  const std::array<std::function<double()>, 3> rivals{
      [&] { return rate(tables.ours.filter, "AniFilter"); },
      [&] { return rate(*tables.words.filter, "the cuckoo filter"); },
      [&] { return rate(*tables.packed.filter, "the packed cuckoo filter"); }};
  return run_rounds(rounds, rivals);
}

void lookups_at(unsigned log2_slots, Figures& figures, const RunOptions& options) {
  const std::string size = text("_%u", log2_slots);
  const std::size_t rounds = options.full ? 15 : 7;
  const std::uint64_t count = std::uint64_t{1} << 22;
  Tables tables(log2_slots, options.seed);

  const double fpr = check_equal_fpr(figures, tables.ours.filter, *tables.words.filter, tables.keys,
                                     std::uint64_t{1} << 24);
  figures.add({.name = "fpr_vs_cuckoo" + size,
               .value = fpr,
               .kind = Kind::counted,
               .better = Better::lower,
               .baseline = "cuckoo 4x12, same load",
               .config = text("5x12, 2^%u slots, 95 %%, 2^24 lookups each", log2_slots)});

  for (const std::size_t call : {kBatch, std::size_t{1024}}) {
    for (const bool negative : {true, false}) {
      const Rounds result = measure(tables, negative, call, rounds, count, figures);
      const std::string what = negative ? "lookup_neg_95" : "lookup_pos_95";
      const std::string end = call == kBatch ? size : size + text("_batch_%zu", call);
      Figure common{
          .baseline =
              "cuckoo 4x12, one bucket a word, both lines prefetched, branch-free, same run",
          .reference = "AniFilter paper: up to 1.2 x, 1.1 x on average (NVM, parallel)",
          .config =
              describe(text("5x12, 2^%u slots, 95 %%, batches of %zu, 1 thread", log2_slots, call),
                       *tables.ours.region)};
      add_ratio(figures, what + "_vs_cuckoo" + end, result, 1, common);
      add_rate(figures, what + "_mops" + end, result, 0, common);
      Figure rival = common;
      rival.config = describe(
          text("cuckoo 4x12, 2^%u slots, 95 %%, batches of %zu, 1 thread", log2_slots, call),
          *tables.words.region);
      add_rate(figures, what + "_mops" + end + "_cuckoo", result, 1, rival);
      common.baseline = "cuckoo 4x12 in the published 6-byte buckets, else the same";
      add_ratio(figures, what + "_vs_cuckoo_packed" + end, result, 2, common);
    }
  }
}

bool wants_size(const Figures& figures, const char* size) {
  for (const char* name :
       {"lookup_neg_95_vs_cuckoo_", "lookup_pos_95_vs_cuckoo_", "fpr_vs_cuckoo_"})
    if (figures.wants(std::string(name) + size)) return true;
  return false;
}

}  // namespace

void run_lookup_figures(Figures& figures, const RunOptions& options) {
  if (wants_size(figures, "24")) lookups_at(24, figures, options);
  if (options.full && wants_size(figures, "27")) lookups_at(27, figures, options);
}

}  // namespace weir::bench
