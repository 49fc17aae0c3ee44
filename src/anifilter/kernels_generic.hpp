// SPDX-License-Identifier: Apache-2.0
// The kernels in plain C++. Included by one source for each instruction set; everything is in an
// unnamed namespace, so that the linker cannot merge code compiled for different machines.
#pragma once
#include <array>

#include "anifilter/kernels.hpp"

namespace weir::anifilter {
namespace {

inline Word load(const Word* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

template <class B>
bool bucket_holds(const Word* words, std::uint64_t bucket, Word fingerprint) {
  // The neighbour first: a spilled fingerprint is evicted by setting the overflow bit of its home
  // before it is overwritten, so whoever misses it there sees the bit here.
  const Word right = load(words + right_of(bucket));
  const Word own = load(words + bucket);
  return B::holds_spilled(right, fingerprint) | B::holds_own(own, fingerprint);
}

/// For a key that was not seen in its prime line, whose overflow bit is set. "No" is believed only
/// if nothing was added to the prime line meanwhile (it might have come from the secondary one).
template <class B>
bool contains_in_two(const TableView& t, std::uint64_t prime, std::uint64_t secondary,
                     Word fingerprint) {
  const auto& stripe = t.stripes[(prime / kWordsPerLine) & t.stripe_mask];
  for (;;) {
    const std::uint32_t before = stripe.load(std::memory_order_acquire);
    if (bucket_holds<B>(t.words, prime, fingerprint) ||
        bucket_holds<B>(t.words, secondary, fingerprint))
      return true;
    if ((before & 1) == 0 && stripe.load(std::memory_order_acquire) == before) return false;
    _mm_pause();
  }
}

inline void hash_generic(const Geometry& geometry, const std::uint64_t* keys, std::size_t n,
                         std::uint64_t* hashes) {
  for (std::size_t i = 0; i < n; ++i) hashes[i] = geometry.hash(keys[i]);
}

inline constexpr std::size_t kLookupChunk = 32;

/// Two passes without a branch on the data: prime lines of a chunk, then the secondary lines of the
/// keys that need one. The prime lines of the next chunk are fetched before either.
template <class B>
std::size_t contains_generic(const TableView& t, const std::uint64_t* hashes, std::size_t n,
                             bool* results) {
  struct Chunk {
    std::array<std::uint64_t, kLookupChunk> prime;
    std::array<std::uint32_t, kLookupChunk> fingerprint;
  };
  std::array<Chunk, 2> chunks;
  const auto fetch = [&](Chunk& chunk, std::size_t first) {
    const std::size_t end = std::min(n - first, kLookupChunk);
    for (std::size_t i = 0; i < end; ++i) {
      const std::uint64_t h = hashes[first + i];
      chunk.prime[i] = t.geometry.prime(h);
      chunk.fingerprint[i] = Geometry::fingerprint<B>(h);
      __builtin_prefetch(t.words + chunk.prime[i]);
    }
  };

  std::size_t found = 0;
  if (n != 0) fetch(chunks[0], 0);
  for (std::size_t first = 0, c = 0; first < n; first += kLookupChunk, c ^= 1) {
    if (first + kLookupChunk < n) fetch(chunks[c ^ 1], first + kLookupChunk);
    const Chunk& chunk = chunks[c];
    const std::size_t end = std::min(n - first, kLookupChunk);

    std::array<std::uint32_t, kLookupChunk> open;  // keys whose answer is in the secondary line
    std::array<std::uint64_t, kLookupChunk> secondary;
    std::size_t open_count = 0;
    for (std::size_t i = 0; i < end; ++i) {
      const std::uint64_t b = chunk.prime[i];
      const Word right = load(t.words + right_of(b));
      const Word own = load(t.words + b);
      const bool hit =
          B::holds_spilled(right, chunk.fingerprint[i]) | B::holds_own(own, chunk.fingerprint[i]);
      results[first + i] = hit;
      found += hit;
      open[open_count] = static_cast<std::uint32_t>(i);
      open_count += !hit & ((own & kOverflowBit) != 0);
    }
    for (std::size_t k = 0; k < open_count; ++k) {
      const std::uint32_t i = open[k];
      secondary[k] = t.geometry.alternate(chunk.prime[i], chunk.fingerprint[i]);
      __builtin_prefetch(t.words + secondary[k]);
    }
    for (std::size_t k = 0; k < open_count; ++k) {
      const std::uint32_t i = open[k];
      const bool hit = contains_in_two<B>(t, chunk.prime[i], secondary[k], chunk.fingerprint[i]);
      results[first + i] = hit;
      found += hit;
    }
  }
  return found;
}

template <class B>
ScanTotals scan_generic(const Word* words, std::uint64_t lines, bool spillable,
                        std::uint8_t* occupancy) {
  ScanTotals totals;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const Word* w = words + line * kWordsPerLine;
    unsigned full = 0;
    unsigned slot0 = 0;
    for (unsigned i = 0; i < kWordsPerLine; ++i) {
      const Word word = load(w + i);
      const Word occupied = B::occupied(word);
      totals.fingerprints += static_cast<unsigned>(__builtin_popcountll(occupied));
      totals.overflowed += (word & kOverflowBit) != 0;
      totals.spilled += (word & kSpillBit) != 0;
      full |= static_cast<unsigned>(occupied == B::kHigh) << i;
      slot0 |= static_cast<unsigned>(B::slot0(word) != 0) << i;
    }
    const unsigned neighbour = spillable ? (slot0 >> 1 | slot0 << 7) & 0xFF : 0xFF;
    const unsigned blocked = full & neighbour;
    totals.full += static_cast<unsigned>(__builtin_popcount(blocked));
    occupancy[line] = static_cast<std::uint8_t>(blocked);
  }
  return totals;
}

template <class B>
void victims_generic(const Geometry& geometry, const std::uint8_t* occupancy, std::uint64_t bucket,
                     Word own, Word right, Victims& victims) {
  const auto add = [&](unsigned i, std::uint64_t home, Word fingerprint) {
    const std::uint64_t target = geometry.alternate(home, static_cast<std::uint32_t>(fingerprint));
    const unsigned flags = __atomic_load_n(&occupancy[target / kWordsPerLine], __ATOMIC_RELAXED);
    victims.fingerprints[i] = fingerprint;
    victims.homes[i] = home;
    victims.targets[i] = target;
    victims.movable |= (~flags >> (target % kWordsPerLine) & 1) << i;
  };
  victims.movable = 0;
  for (unsigned i = 0; i + 1 < B::kSlots; ++i) {
    add(i, bucket, B::get(own, B::kSlots - 1 - i));
    asm volatile(
        "");  // no SSE2: it has no 64-bit multiply, and the imitation is three times slower
  }
  add(B::kSlots - 1, (own & kSpillBit) != 0 ? left_of(bucket) : bucket, B::slot0(own));
  add(B::kSlots, (right & kSpillBit) != 0 ? bucket : right_of(bucket), B::slot0(right));
}

}  // namespace
}  // namespace weir::anifilter
