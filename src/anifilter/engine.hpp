// SPDX-License-Identifier: Apache-2.0
// What every instance of the filter shares, whatever its layout and access policy.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "weir/anifilter/faults.hpp"
#include "weir/anifilter/filter.hpp"

#include "anifilter/geometry.hpp"
#include "anifilter/kernels.hpp"
#include "anifilter/pool_header.hpp"
#include "anifilter/stripes.hpp"
#include "anifilter/thread_slot.hpp"

namespace weir::anifilter {

/// A region that is owned or borrowed.
struct RegionHolder {
  std::unique_ptr<PersistentRegion> owned;
  PersistentRegion* region = nullptr;

  explicit RegionHolder(std::unique_ptr<PersistentRegion> r)
      : owned(std::move(r)), region(owned.get()) {}
  explicit RegionHolder(PersistentRegion& r) : region(&r) {}
};

class Engine {
 public:
  Engine(RegionHolder region, const PoolHeader& header);
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Makes the region an empty filter; until the last step it has no valid header.
  virtual void format() = 0;
  /// Undoes half-done moves and rebuilds what is kept in DRAM.
  virtual void recover(std::size_t threads, const bool (&good_header)[2]) = 0;

  virtual InsertResult insert(std::uint64_t hash) = 0;
  virtual bool contains(std::uint64_t hash) const = 0;
  virtual bool erase(std::uint64_t hash) = 0;
  virtual std::size_t insert(const std::uint64_t* hashes, std::size_t n, InsertResult* results) = 0;
  virtual std::size_t contains(const std::uint64_t* hashes, std::size_t n, bool* results) const = 0;
  virtual std::size_t erase(const std::uint64_t* hashes, std::size_t n, bool* results) = 0;
  [[nodiscard]] virtual Location locate(std::uint64_t hash) const = 0;

  [[nodiscard]] std::uint64_t size() const {
    return static_cast<std::uint64_t>(recovered_size_ + changes_.sum());
  }
  [[nodiscard]] std::uint64_t slots() const {
    return options_.buckets * info(options_.layout).slots;
  }
  [[nodiscard]] Stats stats() const;
  [[nodiscard]] double expected_fpr() const;
  [[nodiscard]] VerifyReport verify() const;
  [[nodiscard]] TableView view() const {
    return {words_, stripes_.data(), stripes_.mask(), geometry_};
  }

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] const Kernels& kernels() const { return kernels_; }
  [[nodiscard]] PersistentRegion& region() const { return *region_.region; }
  [[nodiscard]] std::span<const Word> words() const { return {words_, options_.buckets}; }
  /// A fence failed (msync): what is durable is not known, so nothing is changed any more.
  void stop_writing() {
    failed_ = true;
    writable_ = false;
  }
  RecoveryReport recovery_report;

 protected:
  [[nodiscard]] bool writable() const { return writable_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t lines() const { return options_.buckets / kWordsPerLine; }
  [[nodiscard]] Word* log_record(std::size_t slot) const {
    return reinterpret_cast<Word*>(region_.region->bytes().data() + kLogOffset) +
           slot * kWordsPerLine;
  }
  /// Rebuilds occupancy_ and returns the totals.
  ScanTotals scan(std::size_t threads, std::uint8_t* occupancy) const;

  RegionHolder region_;
  PoolHeader header_;
  Options options_;
  Geometry geometry_;
  Word* words_;
  Stripes stripes_;
  /// One byte a line, bit i: bucket i is blocked (all slots taken, and the one it may spill to). A
  /// hint outside the line's stripe lock; changed only under it.
  std::unique_ptr<std::uint8_t[]> occupancy_;
  const Kernels& kernels_;
  std::int64_t recovered_size_ = 0;
  ShardedCounter changes_;  ///< inserts less erases since then

  void expect_writable() const {
    if (!writable()) [[unlikely]]
      throw_not_writable();
  }

 private:
  [[noreturn]] void throw_not_writable() const;
  [[nodiscard]] double sample_exposed_fraction() const;

  std::atomic<bool> writable_;
  std::atomic<bool> failed_{false};
};

/// Chooses the instance for the layout and for the region: recording, counting, flush-free or
/// native.
std::unique_ptr<Engine> make_engine(RegionHolder region, const PoolHeader& header);

// One source each, so that they compile side by side.
std::unique_ptr<Engine> make_flush_free_engine(RegionHolder region, const PoolHeader& header);
std::unique_ptr<Engine> make_native_engine(RegionHolder region, const PoolHeader& header);
std::unique_ptr<Engine> make_counting_engine(RegionHolder region, const PoolHeader& header);
std::unique_ptr<Engine> make_recording_engine(RegionHolder region, const PoolHeader& header);

/// Of a lookup that compares `compared` fingerprints on average.
double false_positive_rate(double compared, unsigned fingerprint_bits);

}  // namespace weir::anifilter
