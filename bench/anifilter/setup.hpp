// SPDX-License-Identifier: Apache-2.0
// Tables, keys and timed loops that the topics share. Key generation is never timed: keys come in
// chunks that fit the L2 cache, and the clock runs only while a chunk is used.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/rng.hpp"

#include "baselines/cuckoo_filter.hpp"
#include "support/figures.hpp"
#include "support/machine.hpp"
#include "support/timing.hpp"

namespace weir::bench {

using anifilter::Filter;
using anifilter::InsertResult;
using anifilter::Layout;

/// Keys that a run inserts, and others that it does not. splitmix64 is a bijection, so keys of
/// different numbers differ.
class Keys {
 public:
  explicit Keys(std::uint64_t seed) : base_(seed << 44) {}
  [[nodiscard]] std::uint64_t present(std::uint64_t i) const { return splitmix64(base_ + i); }
  [[nodiscard]] std::uint64_t absent(std::uint64_t i) const {
    return splitmix64(base_ + (std::uint64_t{1} << 43) + i);
  }

 private:
  std::uint64_t base_;
};

inline constexpr std::size_t kChunk = 16384;
inline constexpr std::size_t kBatch = 64;  ///< keys a batch call, on both sides
enum class Form { single, batched };

/// Slots a table has: exactly 2^log2 for cuckoo, the nearest multiple of 8 buckets below for ours.
anifilter::Options filter_options(unsigned log2_slots, Layout layout = Layout::k5x12);
cuckoo::Settings cuckoo_settings(unsigned log2_slots, std::uint64_t seed);
/// Kicks after which the rival gives up when it is timed; 500, as published, end below 95 %.
inline constexpr unsigned kTimedKicks = 100'000;

/// AniFilter in ordinary memory.
struct Ours {
  explicit Ours(const anifilter::Options& options, FlushInstruction flush = FlushInstruction::none);
  explicit Ours(std::unique_ptr<PersistentRegion> own_region, const anifilter::Options& options);
  void clear() { filter = Filter::create(*region, options); }

  std::unique_ptr<PersistentRegion> region;
  anifilter::Options options;
  Filter filter;
};

/// The rival in ordinary memory.
template <class Cuckoo>
struct Theirs {
  explicit Theirs(const cuckoo::Settings& wanted, FlushInstruction flush = FlushInstruction::none)
      : region(make_memory_region(Cuckoo::region_size(wanted.buckets), flush)),
        settings(wanted),
        filter(std::make_unique<Cuckoo>(*region, settings)) {}
  void clear() {
    std::memset(region->bytes().data(), 0, region->bytes().size());
    filter = std::make_unique<Cuckoo>(*region, settings);
  }

  std::unique_ptr<PersistentRegion> region;
  cuckoo::Settings settings;
  std::unique_ptr<Cuckoo> filter;
};

/// A table as it was at some load, to be put back before every round. Both sides are restored by
/// the same copy into the same pages, so both start a round with the same caches.
struct Saved {
  std::unique_ptr<PersistentRegion> region;
  std::vector<std::byte> bytes;
  std::uint64_t slots = 0;

  void restore() { std::memcpy(region->bytes().data(), bytes.data(), bytes.size()); }
};
/// Tables with keys [0, load * slots), in a region of the given flush instruction. They are filled
/// without flushes and in batches; the fingerprints lie as any other fill would leave them.
Saved ours_at(double load, const anifilter::Options& options, FlushInstruction flush,
              const Keys& keys);
Saved cuckoo_at(double load, const cuckoo::Settings& settings, FlushInstruction flush,
                const Keys& keys);

// --- one shape for both sides
// ---------------------------------------------------------------------

inline bool insert_keys(Filter& filter, std::span<const std::uint64_t> keys, Form form) {
  if (form == Form::single) {
    for (const std::uint64_t key : keys)
      if (filter.insert(key) != InsertResult::inserted) return false;
    return true;
  }
  std::array<InsertResult, kBatch> results;
  for (std::size_t i = 0; i < keys.size(); i += kBatch) {
    const auto batch = keys.subspan(i, std::min(kBatch, keys.size() - i));
    if (filter.insert(batch, std::span(results).first(batch.size())) != batch.size()) return false;
  }
  return true;
}

template <class Cuckoo>
bool insert_keys(Cuckoo& filter, std::span<const std::uint64_t> keys, Form form) {
  if (form == Form::single) {
    for (const std::uint64_t key : keys)
      if (!filter.insert(key)) return false;
    return true;
  }
  for (std::size_t i = 0; i < keys.size(); i += kBatch) {
    const auto batch = keys.subspan(i, std::min(kBatch, keys.size() - i));
    if (filter.insert(batch) != batch.size()) return false;
  }
  return true;
}

template <class AnyFilter>
std::size_t look_up_keys(const AnyFilter& filter, std::span<const std::uint64_t> keys,
                         std::size_t call) {
  static thread_local std::array<bool, kChunk> results;
  std::size_t found = 0;
  for (std::size_t i = 0; i < keys.size(); i += call) {
    const auto batch = keys.subspan(i, std::min(call, keys.size() - i));
    found += filter.contains(batch, std::span(results).first(batch.size()));
  }
  return found;
}

/// Inserts keys [from, to); returns thread CPU seconds. Throws Error if one does not fit.
template <class AnyFilter>
double timed_insert(AnyFilter& filter, const Keys& keys, std::uint64_t from, std::uint64_t to,
                    Form form) {
  std::vector<std::uint64_t> chunk(kChunk);
  CpuTimer timer;
  while (from < to) {
    const std::size_t n = std::min<std::uint64_t>(kChunk, to - from);
    for (std::size_t i = 0; i < n; ++i) chunk[i] = keys.present(from + i);
    timer.start();
    const bool all = insert_keys(filter, std::span(chunk).first(n), form);
    timer.stop();
    if (!all) throw Error(text("full at key %.0f of %.0f", double(from), double(to)));
    from += n;
  }
  return timer.seconds();
}

struct TimedLookups {
  double seconds = 0;
  std::uint64_t lookups = 0;
  std::uint64_t found = 0;
  [[nodiscard]] double mops() const { return static_cast<double>(lookups) / seconds * 1e-6; }
};

/// Looks up `count` absent keys from number `first` on.
template <class AnyFilter>
TimedLookups timed_absent(const AnyFilter& filter, const Keys& keys, std::uint64_t first,
                          std::uint64_t count, std::size_t call = kBatch) {
  std::vector<std::uint64_t> chunk(kChunk);
  CpuTimer timer;
  TimedLookups result;
  while (result.lookups < count) {
    for (std::size_t i = 0; i < kChunk; ++i) chunk[i] = keys.absent(first + result.lookups + i);
    timer.start();
    result.found += look_up_keys(filter, chunk, call);
    timer.stop();
    result.lookups += kChunk;
  }
  result.seconds = timer.seconds();
  return result;
}

/// Looks up `count` random ones of the keys [0, present).
template <class AnyFilter>
TimedLookups timed_present(const AnyFilter& filter, const Keys& keys, std::uint64_t present,
                           std::uint64_t seed, std::uint64_t count, std::size_t call = kBatch) {
  std::vector<std::uint64_t> chunk(kChunk);
  CpuTimer timer;
  TimedLookups result;
  Rng rng(seed);
  while (result.lookups < count) {
    for (std::uint64_t& key : chunk) key = keys.present(rng.below(present));
    timer.start();
    result.found += look_up_keys(filter, chunk, call);
    timer.stop();
    result.lookups += kChunk;
  }
  result.seconds = timer.seconds();
  return result;
}

inline double mops(std::uint64_t operations, double seconds) {
  return static_cast<double>(operations) / seconds * 1e-6;
}
inline std::uint64_t part_of(std::uint64_t slots, double load) {
  return static_cast<std::uint64_t>(load * static_cast<double>(slots));
}

/// "5x12, 2^24 slots, 1 thread; 25.6 MiB in 2 MiB pages, cache-resident: in the 480 MiB L3".
std::string describe(const std::string& what, const PersistentRegion& region);

/// A ratio to the rival is only fair at equal false-positive rates: records a wrong result if ours
/// is more than 1.05 x theirs, from `count` lookups of absent keys in each. Returns ours / theirs.
template <class Cuckoo>
double check_equal_fpr(Figures& figures, const Filter& ours, const Cuckoo& theirs, const Keys& keys,
                       std::uint64_t count = std::uint64_t{1} << 22) {
  const auto found = [&](const auto& filter) {
    return static_cast<double>(timed_absent(filter, keys, 0, count, kChunk).found);
  };
  const double ratio = found(ours) / found(theirs);
  figures.check(ratio <= 1.05, text("false-positive rate is %.3f x the rival's", ratio));
  return ratio;
}

/// Records a wrong result unless all of `count` random keys of [0, present) are found.
template <class AnyFilter>
void check_present(Figures& figures, const AnyFilter& filter, const Keys& keys,
                   std::uint64_t present, const char* whose,
                   std::uint64_t count = std::uint64_t{1} << 20) {
  const TimedLookups lookups = timed_present(filter, keys, present, 1, count, kChunk);
  figures.check(lookups.found == lookups.lookups, std::string(whose) + " lost keys");
}

/// Figure `name`: rival 0 of `rounds` over rival `against`, and the rates of both beside it.
void add_ratio(Figures& figures, const std::string& name, const Rounds& rounds, std::size_t against,
               const Figure& common);
/// Figure `name`: the rate of rival `which`, in million operations a second.
void add_rate(Figures& figures, const std::string& name, const Rounds& rounds, std::size_t which,
              const Figure& common);

}  // namespace weir::bench
