// SPDX-License-Identifier: Apache-2.0
// AniFilter: a membership filter in persistent memory. After Oh, Cho, Kim, Park, Seo, "AniFilter:
// Parallel and Failure-Atomic Cuckoo Filter for Non-Volatile Memories", EuroSys'20: Spillable
// Buckets, Lookahead Eviction and Bucket Primacy, here on one-word buckets so that an insert needs
// no log.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "weir/anifilter/options.hpp"
#include "weir/anifilter/stats.hpp"
#include "weir/runtime/persistent_region.hpp"

namespace weir::anifilter {

class Engine;

enum class InsertResult : std::uint8_t {
  inserted,
  full,             ///< no room and none can be made; the filter is unchanged
  too_many_copies,  ///< this fingerprint already fills both its buckets; the filter is unchanged
};

/// The user's own hash of a key, used as it is: all 64 bits must be well mixed and must not change
/// between runs. Do not mix with the other key types for the same key.
struct HashedKey {
  std::uint64_t value = 0;
};

/// Where a key may be, for tools and tests.
struct Location {
  std::uint64_t prime = 0;
  std::uint64_t secondary = 0;
  std::uint32_t fingerprint = 0;
};

struct OpenOptions {
  RegionOptions region;
  std::size_t recovery_threads = 1;  ///< for the scan that rebuilds the occupancy flags
};

/// A persistent, failure-atomic, concurrent approximate set.
///
/// contains() never misses a key that was inserted and not erased, also after a crash; it is wrong
/// about other keys with probability expected_fpr(). Erase only keys that were inserted. The same
/// key may be inserted several times (up to 2 (slots + 1)) and is then there until erased as often.
///
/// insert, contains, erase, the batch forms, size, load_factor, stats and verify may run in any
/// threads at once; create, open, close, moving and destroying may not. A contains() that runs
/// beside an insert or erase of the same key may give either answer; it may also see an insert that
/// is not durable yet. When insert or erase returns (a batch: as a whole), it is durable to the
/// degree that durability() states. Throws only where it says so.
class Filter {
 public:
  /// Makes a new filter file. The path appears only when the filter is complete: a crash or signal
  /// before that leaves nothing. Throws InvalidArgument (options, path exists), IoError,
  /// OutOfSpace, Busy, Unsupported.
  static Filter create(const std::filesystem::path& path, const Options& options,
                       const RegionOptions& region = {});
  /// Makes one in the caller's region, whatever was in it before; its size must be at least
  /// region_size(options). The second form does not own the region, which must outlive the filter.
  static Filter create(std::unique_ptr<PersistentRegion> region, const Options& options);
  static Filter create(PersistentRegion& region, const Options& options);

  /// Opens and recovers: checks the header (the second copy if the first is bad), undoes half-done
  /// moves (strict), rebuilds the occupancy flags and the count with one scan. Recovery may itself
  /// crash and be run again. Read-only when the region is not writable: then insert and erase throw
  /// Unsupported, and recovery changes nothing in the file. Throws CorruptData (magic, version,
  /// byte order, size, checksum, truncated), IoError, Busy, Unsupported.
  static Filter open(const std::filesystem::path& path, const OpenOptions& options = {});
  static Filter open(std::unique_ptr<PersistentRegion> region, std::size_t recovery_threads = 1);
  static Filter open(PersistentRegion& region, std::size_t recovery_threads = 1);

  /// Opens what is there, else creates. A file that is there must match `options` in layout,
  /// consistency and hash seed, and hold at least its buckets, else InvalidArgument.
  static Filter open_or_create(const std::filesystem::path& path, const Options& options,
                               const OpenOptions& open_options = {});

  /// Bytes of persistent memory that a filter takes.
  static Bytes region_size(const Options& options);

  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  InsertResult insert(std::uint64_t key);
  InsertResult insert(std::string_view key);
  InsertResult insert(HashedKey key);

  [[nodiscard]] bool contains(std::uint64_t key) const;
  [[nodiscard]] bool contains(std::string_view key) const;
  [[nodiscard]] bool contains(HashedKey key) const;

  /// True if a fingerprint of `key` was found and removed. Erasing a key that was never inserted
  /// may remove another key's fingerprint, like in every cuckoo filter.
  bool erase(std::uint64_t key);
  bool erase(std::string_view key);
  bool erase(HashedKey key);

  // Batches: results[i] belongs to keys[i]; both spans must have the same length (InvalidArgument).
  // Much faster than single calls on large filters, since memory latencies overlap, and a batch of
  // 64 inserts costs two fences instead of 64. The return value is the number of successes.
  std::size_t insert(std::span<const std::uint64_t> keys, std::span<InsertResult> results);
  std::size_t insert(std::span<const HashedKey> keys, std::span<InsertResult> results);
  std::size_t contains(std::span<const std::uint64_t> keys, std::span<bool> results) const;
  std::size_t contains(std::span<const HashedKey> keys, std::span<bool> results) const;
  std::size_t erase(std::span<const std::uint64_t> keys, std::span<bool> results);
  std::size_t erase(std::span<const HashedKey> keys, std::span<bool> results);

  /// The hash that the byte-string forms use, for batches of strings: XXH64 under this filter's
  /// seed.
  [[nodiscard]] HashedKey hash(std::string_view key) const;
  [[nodiscard]] HashedKey hash(std::uint64_t key) const;

  [[nodiscard]] std::uint64_t size() const;  ///< fingerprints stored
  [[nodiscard]] std::uint64_t slots() const;
  [[nodiscard]] double load_factor() const;
  [[nodiscard]] Stats stats() const;
  /// The false-positive rate to expect now: 1 - (1 - 1/(2^f - 1))^m, where
  /// m = load * slots_per_bucket * (1 + u) fingerprints are compared on average and u is
  /// Stats::exposed_fraction. (With v the share of buckets that have the overflow bit and s that of
  /// fingerprints in their secondary bucket, u is about v (1 - s) + s.)
  [[nodiscard]] double expected_fpr() const;

  /// Checks every invariant of the stored words and of the flags kept in DRAM. Needs quiescence.
  [[nodiscard]] VerifyReport verify() const;

  [[nodiscard]] const Options& options() const;  ///< as stored (buckets set, capacity 0)
  [[nodiscard]] Durability durability() const;
  [[nodiscard]] const RecoveryReport& recovery() const;  ///< of the open() that made this object
  [[nodiscard]] const PersistentRegion& region() const;

  // For tools and tests.
  [[nodiscard]] Location locate(HashedKey key) const;
  [[nodiscard]] std::span<const Word> words() const;  ///< one a bucket; see layout.hpp

  /// Makes everything durable and releases the region, reporting what the destructor would swallow
  /// (IoError). The filter must not be used afterwards.
  void close();

 private:
  explicit Filter(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace weir::anifilter
