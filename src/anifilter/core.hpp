// SPDX-License-Identifier: Apache-2.0
// The filter's algorithms, once for every layout and access policy.
//
// Rules that keep every acknowledged key findable, at any crash and beside any thread:
//  R1  a line is changed only under its stripe lock; a change moves the stripe's version on.
//  R2  a key's copy in its secondary bucket is preceded by the overflow bit of its prime bucket: in
//  the
//      same fence epoch for a new key (not acknowledged before the fence), in the same line before
//      the overwrite for a moved one.
//  R3  a lock is held until every overflow bit set under it is durable. So whoever sees the bit
//  under the
//      lock may rely on it without flushing it again.
//  R4  a moved fingerprint is overwritten only after its copy is durable.
//  R5  strict: the record of a move is durable before its copy, and cleared durably before the
//  locks of
//      its slots are released.
// Readers take no lock (kernels_generic.hpp says why that is enough).
#pragma once
#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "weir/runtime/error.hpp"

#include "anifilter/engine.hpp"
#include "anifilter/kernels_generic.hpp"
#include "anifilter/line_locks.hpp"

namespace weir::anifilter {

/// A slot for a fingerprint. `spilled`: the slot is the right neighbour's slot 0.
struct Place {
  std::uint64_t word;
  unsigned slot;
  bool spilled;
};

struct Key {
  std::uint64_t prime;
  std::uint32_t fingerprint;
};

/// One fingerprint's way to its new place; the first of a path is the new key's.
struct Move {
  Place to;
  std::uint32_t fingerprint;
  std::uint64_t home;      ///< bucket that it will belong to at `to`
  std::uint64_t old_home;  ///< bucket that it belonged to before (not for the new key)
};
/// On the stack, and only as much of it touched as there are moves.
class Path {
 public:
  static constexpr std::size_t kMost = 504;  // the longest random walk
  void clear() { size_ = 0; }
  void push_back(const Move& move) { moves_[size_++] = move; }
  void reverse() { std::reverse(begin(), end()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  Move* begin() { return moves_; }
  Move* end() { return moves_ + size_; }
  [[nodiscard]] const Move* begin() const { return moves_; }
  [[nodiscard]] const Move* end() const { return moves_ + size_; }
  const Move& operator[](std::size_t i) const { return moves_[i]; }
  [[nodiscard]] const Move& front() const { return moves_[0]; }
  [[nodiscard]] const Move& back() const { return moves_[size_ - 1]; }

 private:
  Move moves_[kMost];
  std::size_t size_ = 0;
};

template <class B, class Access>
class Core final : public Engine {
 public:
  Core(RegionHolder region, const PoolHeader& header)
      : Engine(std::move(region), header), access_(Engine::region()) {}

  void format() override;
  void recover(std::size_t threads, const bool (&good_header)[2]) override;

  InsertResult insert(std::uint64_t hash) override;
  bool contains(std::uint64_t hash) const override;
  bool erase(std::uint64_t hash) override;
  std::size_t insert(const std::uint64_t* hashes, std::size_t n, InsertResult* results) override;
  std::size_t contains(const std::uint64_t* hashes, std::size_t n, bool* results) const override;
  std::size_t erase(const std::uint64_t* hashes, std::size_t n, bool* results) override;
  Location locate(std::uint64_t hash) const override {
    const Key key = key_of(hash);
    return {key.prime, geometry_.alternate(key.prime, key.fingerprint), key.fingerprint};
  }

 private:
  using Locks = LineLocks<Access>;
  using TwoLocks = TwoLineLocks<Access>;

  // Inlined by hand where a call would pass a Place through memory: g++ finds the functions too
  // large.
  // --- words and places -------------------------------------------------------------------------
  Key key_of(std::uint64_t hash) const {
    return {geometry_.prime(hash), Geometry::fingerprint<B>(hash)};
  }
  std::uint64_t alternate(std::uint64_t bucket, std::uint32_t fingerprint) const {
    return geometry_.alternate(bucket, fingerprint);
  }
  Word load(std::uint64_t bucket) const { return access_.load(words_ + bucket); }
  void flush(std::uint64_t bucket) { access_.flush(words_ + bucket); }
  bool fault(Fault f) const { return access_.fault(static_cast<unsigned>(f)); }

  static std::uint64_t home_of(std::uint64_t word, Word value, unsigned slot) {
    return slot == 0 && (value & kSpillBit) != 0 ? left_of(word) : word;
  }
  WEIR_INLINE bool blocked(std::uint64_t bucket) const {
    return (__atomic_load_n(&occupancy_[bucket / kWordsPerLine], __ATOMIC_RELAXED) >>
                (bucket % kWordsPerLine) &
            1) != 0;
  }
  /// A free slot for a fingerprint of `bucket`: its own from the top, else the neighbour's slot 0.
  WEIR_INLINE bool find_place(std::uint64_t bucket, Place& place) const {
    const Word free = B::empty(load(bucket));
    if (free != 0) {
      place = {bucket, B::highest(free), false};
      return true;
    }
    place = {right_of(bucket), 0, true};
    return options_.spillable_buckets && B::slot0(load(place.word)) == 0;
  }

  /// Stores `fingerprint` at `place` and `extra` flag bits with it, in one store, and returns the
  /// new word. Under the line's lock.
  WEIR_INLINE Word overwrite(const Place& place, std::uint32_t fingerprint, Word extra) {
    const Word old = load(place.word);
    const Word lodger = place.slot == 0 ? kSpillBit : 0;
    const Word word = (B::replace(old, place.slot, fingerprint) & ~lodger) |
                      (place.spilled ? kSpillBit : 0) | extra;
    if (fault(Fault::torn_update) && place.slot == 0)
      access_.store(words_ + place.word, (word & ~kSpillBit) | (old & kSpillBit));
    access_.store(words_ + place.word, word);
    return word;
  }
  /// The same for a slot that was empty: the line's buckets may be blocked now. (Only slot 0, which
  /// is taken last, makes a difference; and an overwrite makes none.)
  WEIR_INLINE void put(const Place& place, std::uint32_t fingerprint) {
    if (B::slot0(overwrite(place, fingerprint, 0)) != 0) refresh_occupancy(place.word);
  }
  /// Empties a slot. Under the line's lock.
  void clear(std::uint64_t bucket, unsigned slot) {
    const Word old = load(bucket);
    Word word = B::replace(old, slot, 0);
    if (slot == 0) word &= ~kSpillBit;
    access_.store(words_ + bucket, word);
    refresh_occupancy(bucket);
  }
  /// Sets the overflow bit; true if it was clear. Under the line's lock.
  bool set_overflow(std::uint64_t bucket) {
    const Word word = load(bucket);
    if ((word & kOverflowBit) != 0) return false;
    access_.store(words_ + bucket, word | kOverflowBit);
    return true;
  }
  /// The flags that a change of `bucket` can change: its own and its left neighbour's.
  void refresh_occupancy(std::uint64_t bucket) {
    const std::uint64_t left = left_of(bucket);
    const Word word = load(bucket);
    const bool no_spill = !options_.spillable_buckets;
    const bool here = B::is_full(word) & (no_spill | (B::slot0(load(right_of(bucket))) != 0));
    const bool there = B::is_full(load(left)) & (no_spill | (B::slot0(word) != 0));
    std::uint8_t& flags = occupancy_[bucket / kWordsPerLine];
    const unsigned here_at = bucket % kWordsPerLine;
    const unsigned there_at = left % kWordsPerLine;
    const unsigned now = (flags & ~(1u << here_at | 1u << there_at)) |
                         static_cast<unsigned>(here) << here_at |
                         static_cast<unsigned>(there) << there_at;
    // relaxed: a hint for whoever does not hold the line's lock
    __atomic_store_n(&flags, static_cast<std::uint8_t>(now), __ATOMIC_RELAXED);
  }

  // --- core_ops.hpp -----------------------------------------------------------------------------
  /// These insert, but leave it to the caller to count.
  InsertResult insert_one(const Key& key) {
    if (options_.bucket_primacy && !blocked(key.prime) && insert_in_prime(key))
      return InsertResult::inserted;
    return insert_elsewhere(key);
  }
  WEIR_INLINE bool insert_in_prime(const Key& key);
  InsertResult insert_elsewhere(const Key& key);
  bool insert_in_either(const Key& key, std::uint64_t secondary);
  bool take_from(std::uint64_t bucket, std::uint32_t fingerprint, std::uint64_t& changed);
  bool erase_unflushed(const Key& key, std::uint64_t& changed);

  // --- core_path.hpp ----------------------------------------------------------------------------
  enum class Search { found, none, changed };
  /// A victim whose alternate bucket has room, by the occupancy flags.
  struct Eviction {
    Move incoming;
    Move victim;  // `to` is not chosen yet
  };
  /// A victim without one, from where the search goes on.
  struct Node {
    std::uint32_t bucket;  ///< that it was looked at for, as victim number `victim`
    std::uint32_t target;
    std::uint32_t home;
    std::uint32_t fingerprint;
    std::int16_t parent;
    std::uint8_t victim;
  };
  void find_victims(std::uint64_t bucket, std::uint32_t incoming, Victims& victims) const;
  static Place victim_place(std::uint64_t bucket, unsigned i) {
    return i == B::kSlots ? Place{right_of(bucket), 0, true}
                          : Place{bucket, B::kSlots - 1 - i, false};
  }
  unsigned victim_count() const { return B::kSlots + (options_.spillable_buckets ? 1 : 0); }
  /// The victims of a key's two buckets; the second is filled only if the first gives nothing.
  using Roots = Victims[2];
  bool look_ahead(std::uint64_t bucket, std::uint32_t incoming, Victims& victims,
                  Eviction& eviction) const;
  template <class AnyLocks>
  bool evict_under(AnyLocks& locks, const Key& key, Eviction& eviction);
  bool evict(const Key& key, Eviction& eviction);
  template <class Flush>
  void copy_victim(const Key& key, const Eviction& eviction, Flush&& flush_line);
  Search find_path(const Key& key, std::uint64_t secondary, const Roots& roots, Path& path) const;
  Search find_walk(const Key& key, std::uint64_t secondary, Path& path) const;
  bool holds_only_copies(const Key& key, std::uint64_t bucket) const;
  bool is_still(const Move& incoming, const Move& victim) const;
  bool is_still(const Path& path) const;
  void lock_lines_of(const Path& path, const Key& key, Locks& locks) const;
  void overwrite_victim(const Move& incoming, const Move& victim);
  bool execute(const Key& key, const Path& path);
  void log_move(std::size_t entry, const Place& from, const Move& move);
  void clear_log();
  /// The record of threads beyond the last slot of their own is shared, and then locked.
  std::unique_lock<std::mutex> lock_shared_log() {
    return thread_slot() + 1 == kThreadSlots ? std::unique_lock(shared_log_)
                                             : std::unique_lock<std::mutex>{};
  }

  // --- core_batch.hpp ---------------------------------------------------------------------------
  struct Batch;
  struct Chunk;
  void stage(const std::uint64_t* hashes, std::size_t n, Chunk& chunk) const;
  std::size_t insert_chunk(const Chunk& chunk, std::size_t n, Batch& batch, InsertResult* results);
  InsertResult insert_in_batch(const Key& key, Batch& batch);
  bool evict_in_batch(const Key& key, Eviction& eviction, Batch& batch);
  void drain(Batch& batch);
  /// Sharing fences pays where they cost something; moves are logged one by one in strict mode; and
  /// the two ablations take the single-key way.
  bool shares_fences() const {
    return Access::kFlushes && options_.consistency == Consistency::relaxed &&
           options_.bucket_primacy && options_.lookahead_eviction;
  }

  Access access_;
  std::mutex shared_log_;
};

}  // namespace weir::anifilter

#include "anifilter/core_admin.hpp"
#include "anifilter/core_batch.hpp"
#include "anifilter/core_ops.hpp"
#include "anifilter/core_path.hpp"
