// SPDX-License-Identifier: Apache-2.0
// How the rival makes room when both buckets of a key are full: three policies of one shape.
//   place(buckets, bucket, tag)                  stores in a free slot, if there is one
//   evict(buckets, first, second, tag, mask)     makes room; false: full, nothing has changed
//   adopt(bucket, word)                          learns of a bucket that is there already
//   victims()                                    tags that failed walks left in hand
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weir/runtime/rng.hpp"

#include "baselines/cuckoo_buckets.hpp"

namespace weir::bench::cuckoo {

/// Keys that a batch form takes at once.
inline constexpr std::size_t kBatch = 64;

/// A tag and a bucket that may hold it.
struct Hashed {
  std::uint64_t bucket;
  Word tag;
};

constexpr std::uint64_t alternate_bucket(std::uint64_t bucket, Word tag, std::uint64_t mask) {
  return (bucket ^ (tag * 0x5bd1e995u)) & mask;
}

template <class Buckets>
bool place_in(Buckets& buckets, std::uint64_t bucket, Word tag) {
  const Word word = buckets.load(bucket);
  if (is_full(word)) return false;
  buckets.store(bucket, with_tag(word, first_free(word), tag));
  return true;
}

/// The published eviction: swap the tag in hand with a random one of the bucket, and go on with
/// that in its other bucket. In place, so whatever stops it in the middle has lost a tag.
template <class Buckets>
class RandomWalk {
 public:
  static constexpr bool kInterleaves = false;

  RandomWalk(std::uint64_t, unsigned max_kicks, std::uint64_t seed)
      : max_kicks_(max_kicks), rng_(seed) {}
  void adopt(std::uint64_t, Word) {}

  bool place(Buckets& buckets, std::uint64_t bucket, Word tag) {
    return place_in(buckets, bucket, tag);
  }

  bool evict(Buckets& buckets, std::uint64_t, std::uint64_t second, Word tag, std::uint64_t mask) {
    Walk walk{{second, tag}, 0};
    while (walk.kicks < max_kicks_)
      if (step(buckets, walk, mask)) return true;
    victims_.push_back(walk.hand);
    return true;
  }

  /// One at most, for a filter that is full refuses the next insert.
  std::span<const Hashed> victims() const { return victims_; }

 protected:
  struct Walk {
    Hashed hand;
    unsigned kicks;
  };

  bool step(Buckets& buckets, Walk& walk, std::uint64_t mask) {
    Hashed& hand = walk.hand;
    const Word word = buckets.load(hand.bucket);
    if (!is_full(word)) {
      buckets.store(hand.bucket, with_tag(word, first_free(word), hand.tag));
      return true;
    }
    const auto slot = static_cast<unsigned>(rng_() >> 62);
    buckets.store(hand.bucket, with_tag(word, slot, hand.tag));
    hand.tag = tag_at(word, slot);
    hand.bucket = alternate_bucket(hand.bucket, hand.tag, mask);
    buckets.prefetch_write(hand.bucket);
    ++walk.kicks;
    return false;
  }

  unsigned max_kicks_;
  Rng rng_;
  std::vector<Hashed> victims_;
};

/// The same walk, but the walks of a batch take turns.
template <class Buckets>
class InterleavedWalk : public RandomWalk<Buckets> {
 public:
  static constexpr bool kInterleaves = true;
  using RandomWalk<Buckets>::RandomWalk;

  /// Inserts a whole batch. Its walks take turns, so that each hides the cache misses of the
  /// others.
  void insert_many(Buckets& buckets, std::span<const Hashed> keys, std::uint64_t mask) {
    std::array<Walk, kBatch> walks;
    std::size_t active = 0;
    for (const Hashed& key : keys) {
      if (place_in(buckets, key.bucket, key.tag)) continue;
      const std::uint64_t second = alternate_bucket(key.bucket, key.tag, mask);
      if (!place_in(buckets, second, key.tag)) walks[active++] = {{second, key.tag}, 0};
    }
    while (active != 0) {
      for (std::size_t i = 0; i < active;) {
        const bool placed = this->step(buckets, walks[i], mask);
        const bool failed = !placed && walks[i].kicks >= this->max_kicks_;
        if (failed) this->victims_.push_back(walks[i].hand);
        if (placed || failed)
          walks[i] = walks[--active];
        else
          ++i;
      }
    }
  }

 private:
  using typename RandomWalk<Buckets>::Walk;
};

struct Position {
  std::uint64_t bucket;
  unsigned slot;
};

/// Shifts tags along `path` (its first position first) into `end`, last move first, then stores
/// `tag` in the position that came free. Every tag is in its new place, durably, before its old
/// place is overwritten: a crash leaves one tag twice, and none is ever missing.
template <class Buckets>
void shift_along(Buckets& buckets, std::span<const Position> path, Position end, Word tag) {
  for (std::size_t i = path.size(); i-- > 0;) {
    const Word moved = tag_at(buckets.load(path[i].bucket), path[i].slot);
    buckets.store(end.bucket, with_tag(buckets.load(end.bucket), end.slot, moved));
    end = path[i];
  }
  buckets.store(end.bucket, with_tag(buckets.load(end.bucket), end.slot, tag));
}

/// The same random walk made crash-safe: first found without writing, then executed from its end.
/// It never takes a slot twice, because a tag that is to move must still be where it was seen.
template <class Buckets>
class RecordedWalk {
 public:
  static constexpr bool kInterleaves = false;

  RecordedWalk(std::uint64_t, unsigned max_kicks, std::uint64_t seed)
      : max_kicks_(max_kicks), rng_(seed), seen_(kSeenBits / 64) {}
  void adopt(std::uint64_t, Word) {}

  bool place(Buckets& buckets, std::uint64_t bucket, Word tag) {
    return place_in(buckets, bucket, tag);
  }

  bool evict(Buckets& buckets, std::uint64_t, std::uint64_t second, Word tag, std::uint64_t mask) {
    path_.clear();
    std::uint64_t bucket = second;
    bool found = false;
    while (path_.size() < max_kicks_) {
      const Word word = buckets.load(bucket);
      if (!is_full(word)) {
        shift_along(buckets, path_, {bucket, first_free(word)}, tag);
        found = true;
        break;
      }
      const unsigned slot = pick_slot(bucket);
      if (slot == kSlots) break;
      path_.push_back({bucket, slot});
      mark(bucket);
      bucket = alternate_bucket(bucket, tag_at(word, slot), mask);
    }
    for (const Position& position : path_) seen_[seen_bit(position.bucket) / 64] = 0;
    return found;
  }

  std::span<const Hashed> victims() const { return {}; }

 private:
  static constexpr std::size_t kSeenBits = std::size_t{1} << 14;

  static std::size_t seen_bit(std::uint64_t bucket) {
    return static_cast<std::size_t>((bucket * 0x9E3779B97F4A7C15u) >> 50);
  }
  void mark(std::uint64_t bucket) {
    seen_[seen_bit(bucket) / 64] |= Word{1} << seen_bit(bucket) % 64;
  }

  /// A random slot of `bucket` that is not on the path; kSlots if all are.
  unsigned pick_slot(std::uint64_t bucket) {
    const auto start = static_cast<unsigned>(rng_() >> 62);
    if ((seen_[seen_bit(bucket) / 64] >> seen_bit(bucket) % 64 & 1) == 0) return start;
    unsigned taken = 0;
    for (const Position& position : path_)
      if (position.bucket == bucket) taken |= 1u << position.slot;
    for (unsigned i = 0; i < kSlots; ++i)
      if (const unsigned slot = (start + i) % kSlots; (taken >> slot & 1) == 0) return slot;
    return kSlots;
  }

  unsigned max_kicks_;
  Rng rng_;
  std::vector<Position> path_;
  std::vector<Word> seen_;  // a hash of the path's buckets: most steps need no look at the path
};

/// Not as published: the shortest way to a free slot, breadth first from both buckets, with one bit
/// a bucket in DRAM that says "full", so that only tags that can move are looked at. Crash-safe.
template <class Buckets>
class BreadthFirst {
 public:
  static constexpr bool kInterleaves = false;

  BreadthFirst(std::uint64_t buckets, unsigned, std::uint64_t) : full_((buckets + 63) / 64) {}
  void adopt(std::uint64_t bucket, Word word) {
    if (is_full(word)) set_full(bucket);
  }

  bool place(Buckets& buckets, std::uint64_t bucket, Word tag) {
    const Word word = buckets.load(bucket);
    if (is_full(word)) return false;
    store_in_free_slot(buckets, bucket, word, tag);
    return true;
  }

  bool evict(Buckets& buckets, std::uint64_t first, std::uint64_t second, Word tag,
             std::uint64_t mask) {
    nodes_.assign({{first, kRoot, 0}, {second, kRoot, 0}});
    for (std::uint32_t head = 0; head < nodes_.size(); ++head) {
      const Node node = nodes_[head];
      const Word word = buckets.load(node.bucket);
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        const Word moved = tag_at(word, slot);
        const std::uint64_t next = alternate_bucket(node.bucket, moved, mask);
        if (full(next)) continue;
        if (!trace(head, slot)) continue;
        const Word target = buckets.load(next);
        const Position end{next, first_free(target)};
        if (is_full(with_tag(target, end.slot, moved))) set_full(next);
        shift_along(buckets, path_, end, tag);
        return true;
      }
      if (nodes_.size() + kSlots > kMostNodes) continue;
      for (unsigned slot = 0; slot < kSlots; ++slot)
        nodes_.push_back({alternate_bucket(node.bucket, tag_at(word, slot), mask), head, slot});
    }
    return false;
  }

  std::span<const Hashed> victims() const { return {}; }

 private:
  static constexpr std::uint32_t kRoot = ~std::uint32_t{0};
  static constexpr std::size_t kMostNodes = 2000;

  struct Node {
    std::uint64_t bucket;
    std::uint32_t parent;
    unsigned slot;  // of the parent: its tag moves here
  };

  bool full(std::uint64_t bucket) const { return (full_[bucket / 64] >> bucket % 64 & 1) != 0; }
  void set_full(std::uint64_t bucket) { full_[bucket / 64] |= Word{1} << bucket % 64; }

  void store_in_free_slot(Buckets& buckets, std::uint64_t bucket, Word word, Word tag) {
    const Word stored = with_tag(word, first_free(word), tag);
    buckets.store(bucket, stored);
    if (is_full(stored)) set_full(bucket);
  }

  /// Fills path_ with the positions from the root to (node, slot); false if one comes twice.
  bool trace(std::uint32_t node, unsigned slot) {
    path_.clear();
    for (;;) {
      const Position position{nodes_[node].bucket, slot};
      for (const Position& other : path_)
        if (other.bucket == position.bucket && other.slot == position.slot) return false;
      path_.insert(path_.begin(), position);
      if (nodes_[node].parent == kRoot) return true;
      slot = nodes_[node].slot;
      node = nodes_[node].parent;
    }
  }

  std::vector<Word> full_;
  std::vector<Node> nodes_;
  std::vector<Position> path_;
};

}  // namespace weir::bench::cuckoo
