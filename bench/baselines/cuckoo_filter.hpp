// SPDX-License-Identifier: Apache-2.0
// The rival: the Cuckoo Filter of Fan, Andersen, Kaminsky and Mitzenmacher, CoNEXT'14: buckets of
// 4 x 12 bits, partial-key hashing with an XOR alternate (so the number of buckets is a power of
// two), random-walk eviction. Details follow the authors' efficient/cuckoofilter: the hop is
// tag * 0x5bd1e995, the first bucket is never evicted from, at most 500 rounds, then the tag in
// hand goes to a one-entry victim cache and the filter is full. What differs: our hash
// (weir::mix64, the same as AniFilter's), one bucket a word (cuckoo_buckets.hpp says why), and
// batch forms. Not thread-safe, like the original.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weir/runtime/cpu.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/hash.hpp"
#include "weir/runtime/rng.hpp"

#include "baselines/cuckoo_avx512.hpp"
#include "baselines/cuckoo_buckets.hpp"
#include "baselines/cuckoo_walks.hpp"

namespace weir::bench::cuckoo {

struct Settings {
  std::uint64_t buckets = 0;  ///< a power of two
  unsigned max_kicks = 500;
  std::uint64_t seed = 1;
  bool adopt = false;  ///< the region already holds a table of these settings
};

/// `Eviction` is one of the policies of cuckoo_walks.hpp; it says what a crash may leave. The
/// region must be zeroed; there is no header and no open(): a rival in time, not in features.
template <class Buckets, template <class> class Eviction>
class CuckooFilter {
 public:
  static Bytes region_size(std::uint64_t buckets) {
    return {buckets * Buckets::kStride + sizeof(Word)};  // packed: the last bucket is loaded whole
  }

  CuckooFilter(PersistentRegion& region, const Settings& settings)
      : buckets_(region, settings.buckets),
        mask_(settings.buckets - 1),
        salt_(splitmix64(settings.seed)),
        avx512_(Buckets::kDirect && active_isa() >= Isa::avx512),
        eviction_(settings.buckets, settings.max_kicks, settings.seed) {
    WEIR_EXPECTS(std::has_single_bit(settings.buckets) && settings.buckets <= Word{1} << 32,
                 "cuckoo: the number of buckets must be a power of two up to 2^32");
    WEIR_EXPECTS(region.bytes().size() >= region_size(settings.buckets).value,
                 "cuckoo: the region is smaller than region_size()");
    if (!settings.adopt) return;
    for (std::uint64_t bucket = 0; bucket < settings.buckets; ++bucket) {
      const Word word = buckets_.load(bucket);
      for (unsigned slot = 0; slot < kSlots; ++slot) size_ += tag_at(word, slot) != 0;
      eviction_.adopt(bucket, word);
    }
  }

  /// False: full.
  bool insert(std::uint64_t key) {
    const OperationScope scope(buckets_.access());
    const Hashed hashed = hash(key);
    // Counted costs stay those of the published algorithm, which looks at the second line only when
    // it must; a clock prefers to have it on its way.
    if constexpr (Buckets::kDirect) buckets_.prefetch_write(alternate(hashed.bucket, hashed.tag));
    return insert_hashed(hashed);
  }

  /// Returns how many were inserted; stops trying at the first that does not fit.
  std::size_t insert(std::span<const std::uint64_t> keys) {
    std::size_t done = 0;
    while (done < keys.size()) {
      const auto block = keys.subspan(done, std::min(kBatch, keys.size() - done));
      const std::size_t inserted = insert_block(block);
      done += inserted;
      if (inserted < block.size()) break;
    }
    return done;
  }

  [[nodiscard]] bool contains(std::uint64_t key) const {
    const OperationScope scope(buckets_.access());
    const Hashed hashed = hash(key);
    if (has_tag(buckets_.load(hashed.bucket), hashed.tag)) return true;
    const std::uint64_t second = alternate(hashed.bucket, hashed.tag);
    return has_tag(buckets_.load(second), hashed.tag) || is_victim(hashed);
  }

  /// Returns how many were found. Both lines of a key are known at once, so both are prefetched one
  /// block ahead, and nothing branches on what they hold.
  std::size_t contains(std::span<const std::uint64_t> keys, std::span<bool> results) const {
    std::size_t found = 0;
    std::size_t done = 0;
    constexpr std::size_t kKeys = LookupBlock::kKeys;
    std::array<LookupBlock, 2> blocks;
    const std::size_t whole = keys.size() / kKeys;
    if (whole > 0) prepare(keys.data(), blocks[0]);
    for (std::size_t b = 0; b < whole; ++b, done += kKeys) {
      if (b + 1 < whole) prepare(keys.data() + done + kKeys, blocks[(b + 1) % 2]);
      found += look_up(blocks[b % 2], results.data() + done);
    }
    for (; done < keys.size(); ++done) found += results[done] = contains(keys[done]);
    if (!eviction_.victims().empty()) found = with_victims(keys, results);
    return found;
  }

  [[nodiscard]] std::uint64_t slots() const { return (mask_ + 1) * kSlots; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] double load_factor() const {
    return static_cast<double>(size_) / static_cast<double>(slots());
  }

 private:
  Hashed hash(std::uint64_t key) const {
    const std::uint64_t h = mix64(key ^ salt_);
    const Word tag = h & kTagMask;
    return {(h >> 32) & mask_, tag + (tag == 0)};
  }
  std::uint64_t alternate(std::uint64_t bucket, Word tag) const {
    return alternate_bucket(bucket, tag, mask_);
  }

  bool insert_hashed(const Hashed& hashed) {
    if (!eviction_.victims().empty()) return false;
    const std::uint64_t second = alternate(hashed.bucket, hashed.tag);
    const bool inserted = eviction_.place(buckets_, hashed.bucket, hashed.tag) ||
                          eviction_.place(buckets_, second, hashed.tag) ||
                          eviction_.evict(buckets_, hashed.bucket, second, hashed.tag, mask_);
    size_ += inserted;
    return inserted;
  }

  std::size_t insert_block(std::span<const std::uint64_t> keys) {
    const OperationScope scope(buckets_.access());
    std::array<Hashed, kBatch> hashed;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      hashed[i] = hash(keys[i]);
      buckets_.prefetch_write(hashed[i].bucket);
      buckets_.prefetch_write(alternate(hashed[i].bucket, hashed[i].tag));
    }
    if constexpr (Eviction<Buckets>::kInterleaves) {
      if (!eviction_.victims().empty()) return 0;
      eviction_.insert_many(buckets_, std::span(hashed).first(keys.size()), mask_);
      size_ += keys.size();
      return keys.size();
    } else {
      for (std::size_t i = 0; i < keys.size(); ++i)
        if (!insert_hashed(hashed[i])) return i;
      return keys.size();
    }
  }

  void prepare(const std::uint64_t* keys, LookupBlock& block) const {
    if (avx512_) {
      locate_avx512<Buckets::kStride>(keys, salt_, mask_, block);
      for (std::size_t i = 0; i < LookupBlock::kKeys; ++i) {
        __builtin_prefetch(buckets_.data() + block.first[i]);
        __builtin_prefetch(buckets_.data() + block.second[i]);
      }
      return;
    }
    for (std::size_t i = 0; i < LookupBlock::kKeys; ++i) {
      const Hashed hashed = hash(keys[i]);
      block.first[i] = hashed.bucket;
      block.second[i] = alternate(hashed.bucket, hashed.tag);
      block.tag[i] = hashed.tag * kLowBits;
      buckets_.prefetch(block.first[i]);
      buckets_.prefetch(block.second[i]);
    }
  }

  std::size_t look_up(const LookupBlock& block, bool* results) const {
    if (avx512_) return look_up_avx512(buckets_.data(), block, results);
    std::size_t found = 0;
    for (std::size_t i = 0; i < LookupBlock::kKeys; ++i) {
      const Word hits = zero_slots(buckets_.load(block.first[i]) ^ block.tag[i]) |
                        zero_slots(buckets_.load(block.second[i]) ^ block.tag[i]);
      results[i] = hits != 0;
      found += hits != 0;
    }
    return found;
  }

  bool is_victim(const Hashed& hashed) const {
    const std::uint64_t second = alternate(hashed.bucket, hashed.tag);
    return std::any_of(eviction_.victims().begin(), eviction_.victims().end(),
                       [&](const Hashed& victim) {
                         return victim.tag == hashed.tag &&
                                (victim.bucket == hashed.bucket || victim.bucket == second);
                       });
  }
  std::size_t with_victims(std::span<const std::uint64_t> keys, std::span<bool> results) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < keys.size(); ++i)
      found += results[i] = results[i] || is_victim(hash(keys[i]));
    return found;
  }

  Buckets buckets_;
  std::uint64_t mask_;
  std::uint64_t salt_;
  bool avx512_;
  Eviction<Buckets> eviction_;
  std::uint64_t size_ = 0;
};

/// As published, every store flushed and fenced: fast, but a crash in a walk loses the tag in hand.
template <class Access>
using PublishedCuckoo = CuckooFilter<WordBuckets<Access>, RandomWalk>;
/// As published, in the published 6-byte layout; ordinary memory only.
using PackedCuckoo = CuckooFilter<PackedBuckets, RandomWalk>;
/// Not as published: the walks of a batch take turns. Hides memory latency best, but a crash loses
/// a tag for each walk in hand, all of them acknowledged long before.
template <class Access>
using InterleavedCuckoo = CuckooFilter<WordBuckets<Access>, InterleavedWalk>;
/// Crash-safe: the walk is found first and executed from its end.
template <class Access>
using CrashSafeCuckoo = CuckooFilter<WordBuckets<Access>, RecordedWalk>;
/// Crash-safe, and evicts along the shortest path; full buckets are known from a bit each in DRAM.
template <class Access>
using LookaheadCuckoo = CuckooFilter<WordBuckets<Access>, BreadthFirst>;

}  // namespace weir::bench::cuckoo
