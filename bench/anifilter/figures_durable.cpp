// SPDX-License-Identifier: Apache-2.0
// The same ratios when every operation is made durable: flush and fence on, on ordinary memory.
// Against two rivals: "flush" flushes and fences each store of the published walk, but a crash in
// the middle loses a key; "safe" finds its walk first and executes it from its end.
#include "anifilter/figures.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

using Flush = cuckoo::PublishedCuckoo<NativeAccess>;
using Safe = cuckoo::CrashSafeCuckoo<NativeAccess>;
constexpr unsigned kLog2Slots = 24;

/// Ratios to both rivals, and the three rates.
void add_both(Figures& figures, const std::string& name, const Rounds& rounds,
              const std::string& what, const PersistentRegion& region) {
  Figure common{.config = describe("5x12, 2^24 slots, " + what + ", 1 thread, relaxed, " +
                                       std::string(to_string(region.flush_instruction())),
                                   region)};
  common.baseline = "cuckoo 4x12, flush + fence per store (not crash-safe), same run";
  add_ratio(figures, name + "_vs_cuckoo_24_durable_vs_flush", rounds, 1, common);
  common.baseline = "cuckoo 4x12, crash-safe walk, flush + fence per store, same run";
  add_ratio(figures, name + "_vs_cuckoo_24_durable_vs_safe", rounds, 2, common);
  add_rate(figures, name + "_mops_24_durable", rounds, 0, common);
  common.config = describe("cuckoo 4x12, 2^24 slots, " + what + ", 1 thread", region);
  add_rate(figures, name + "_mops_24_durable_cuckoo_flush", rounds, 1, common);
  add_rate(figures, name + "_mops_24_durable_cuckoo_safe", rounds, 2, common);
}

class Durable {
 public:
  Durable(FlushInstruction flush, Figures& figures, const RunOptions& options)
      : flush_(flush),
        figures_(figures),
        options_(options),
        keys_(options.seed),
        settings_(cuckoo_settings(kLog2Slots, options.seed)) {}

  void inserts() {
    Saved ours = ours_at(0.93, filter_options(kLog2Slots), flush_, keys_);
    Saved theirs = cuckoo_at(0.93, settings_, flush_, keys_);
    const auto window = [&](auto& filter, const Saved& table) {
      const std::uint64_t from = part_of(table.slots, 0.93);
      const std::uint64_t to = part_of(table.slots, 0.95);
      const double seconds = timed_insert(filter, keys_, from, to, Form::single);
      check_present(figures_, filter, keys_, to, "a durable filter", std::uint64_t{1} << 16);
      return mops(to - from, seconds);
    };
    const auto rival = [&]<class Cuckoo>(Cuckoo*) {
      theirs.restore();
      cuckoo::Settings adopt = settings_;
      adopt.adopt = true;
      Cuckoo filter(*theirs.region, adopt);
      return window(filter, theirs);
    };
    const std::array<std::function<double()>, 3> rivals{
        [&] {
          ours.restore();
          Filter filter = Filter::open(*ours.region);
          return window(filter, ours);
        },
        [&] { return rival(static_cast<Flush*>(nullptr)); },
        [&] { return rival(static_cast<Safe*>(nullptr)); }};
    const Rounds rounds = run_rounds(options_.full ? 5 : 3, rivals);
    add_both(figures_, "insert_93_95", rounds, "93 to 95 %, single inserts", *ours.region);
  }

  void fills() {
    Ours ours(filter_options(kLog2Slots), flush_);
    Theirs<Flush> flush(settings_, flush_);
    Theirs<Safe> safe(settings_, flush_);
    const auto fill = [&](auto& filter) {
      const std::uint64_t count = part_of(filter.slots(), 0.95);
      return mops(count, timed_insert(filter, keys_, 0, count, Form::batched));
    };
    const std::array<std::function<double()>, 3> rivals{
        [&] { return ours.clear(), fill(ours.filter); },
        [&] { return flush.clear(), fill(*flush.filter); },
        [&] { return safe.clear(), fill(*safe.filter); }};
    // A durable fill of the rival takes seconds: one in the quick run.
    const Rounds rounds = run_rounds(options_.full ? 3 : 1, rivals);
    add_both(figures_, "fill_95", rounds, "0 to 95 %, batches of 64", *ours.region);
    lookups(ours.filter, *flush.filter, *safe.filter, *ours.region);
  }

 private:
  void lookups(const Filter& ours, const Flush& flush, const Safe& safe,
               const PersistentRegion& region) {
    for (const bool negative : {true, false}) {
      std::uint64_t round = 0;
      const auto rate = [&](const auto& filter) {
        constexpr std::uint64_t kCount = std::uint64_t{1} << 22;
        if (negative) return timed_absent(filter, keys_, round++ * kCount, kCount).mops();
        const TimedLookups lookups =
            timed_present(filter, keys_, part_of(filter.slots(), 0.95), ++round, kCount);
        figures_.check(lookups.found == lookups.lookups, "a durable filter lost keys");
        return lookups.mops();
      };
      const std::array<std::function<double()>, 3> rivals{
          [&] { return rate(ours); }, [&] { return rate(flush); }, [&] { return rate(safe); }};
      const Rounds rounds = run_rounds(options_.full ? 9 : 5, rivals);
      add_both(figures_, negative ? "lookup_neg_95" : "lookup_pos_95", rounds,
               "95 %, lookups in batches of 64 (they neither flush nor fence)", region);
    }
  }

  FlushInstruction flush_;
  Figures& figures_;
  const RunOptions& options_;
  Keys keys_;
  cuckoo::Settings settings_;
};

bool wants_any(const Figures& figures, std::initializer_list<const char*> names) {
  for (const char* name : names)
    for (const char* rival : {"flush", "safe"})
      if (figures.wants(std::string(name) + "_vs_cuckoo_24_durable_vs_" + rival)) return true;
  return false;
}

}  // namespace

void run_durable_figures(Figures& figures, const RunOptions& options) {
  Durable durable(best_flush_instruction(), figures, options);
  if (wants_any(figures, {"insert_93_95"})) durable.inserts();
  if (wants_any(figures, {"fill_95", "lookup_neg_95", "lookup_pos_95"})) durable.fills();
}

}  // namespace weir::bench
