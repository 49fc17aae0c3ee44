// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512: eight keys, or one line of eight buckets, at a time. Each 64-bit element of
// a gather is one aligned load, so the order and atomicity that the generic code relies on hold
// here too.
#include <immintrin.h>

#include "anifilter/kernels_generic.hpp"
#include "anifilter/kernels_table.hpp"

namespace weir::anifilter {
namespace {

__m512i all(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

__m512i mix64x8(__m512i x) {
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 27));
  x = _mm512_mullo_epi64(x, all(0x3C79AC492BA7B653u));
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
  x = _mm512_mullo_epi64(x, all(0x1C69B3F74AC4AE35u));
  return _mm512_xor_si512(x, _mm512_srli_epi64(x, 27));
}

void hash_avx512(const Geometry& geometry, const std::uint64_t* keys, std::size_t n,
                 std::uint64_t* hashes) {
  const __m512i mask = all(geometry.key_mask);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm512_storeu_si512(hashes + i, mix64x8(_mm512_xor_si512(_mm512_loadu_si512(keys + i), mask)));
  for (; i < n; ++i) hashes[i] = geometry.hash(keys[i]);
}

/// high64(hash * buckets), exact since buckets < 2^32.
__m512i prime8(__m512i hash, __m512i buckets) {
  const __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(hash, buckets), 32);
  const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(hash, 32), buckets);
  return _mm512_srli_epi64(_mm512_add_epi64(high, low), 32);
}

template <class B>
__m512i fingerprint8(__m512i hash) {
  return _mm512_add_epi64(_mm512_srli_epi64(_mm512_mul_epu32(hash, all(B::kSlotMask)), 32), all(1));
}

__m512i alternate8(__m512i bucket, __m512i fingerprint, __m512i buckets) {
  const __m512i word = all(0xFFFFFFFFu);
  __m512i x = _mm512_and_si512(_mm512_mul_epu32(fingerprint, all(0x9E3779B1u)), word);
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 15));
  x = _mm512_and_si512(_mm512_mul_epu32(x, all(0x85EBCA77u)), word);
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 13));
  const __m512i distance =
      _mm512_or_si512(_mm512_srli_epi64(_mm512_mul_epu32(x, buckets), 32), all(1));
  const __mmask8 is_odd = _mm512_test_epi64_mask(bucket, all(1));
  // Unsigned wrap: bucket - distance is huge when it should have wrapped at the table's end.
  const __m512i up = _mm512_add_epi64(bucket, distance);
  const __m512i up_wrapped = _mm512_min_epu64(up, _mm512_sub_epi64(up, buckets));
  const __m512i down = _mm512_sub_epi64(bucket, distance);
  const __m512i down_wrapped = _mm512_min_epu64(down, _mm512_add_epi64(down, buckets));
  return _mm512_mask_blend_epi64(is_odd, up_wrapped, down_wrapped);
}

__m512i right8(__m512i bucket) {
  const __m512i in_line = all(7);
  return _mm512_or_si512(_mm512_andnot_si512(in_line, bucket),
                         _mm512_and_si512(_mm512_add_epi64(bucket, all(1)), in_line));
}

template <class B>
__m512i occupied8(__m512i words) {
  const __m512i below = all(B::kBelowHigh);
  const __m512i sum = _mm512_add_epi64(_mm512_and_si512(words, below), below);
  return _mm512_and_si512(_mm512_or_si512(sum, words), all(B::kHigh));
}

/// Which of the eight buckets hold their fingerprint, own or spilled.
template <class B>
__mmask8 holds8(__m512i own, __m512i right, __m512i fingerprint) {
  __m512i everywhere = fingerprint;  // the fingerprint in every slot
  for (unsigned s = 1; s < B::kSlots; ++s)
    everywhere = _mm512_or_si512(everywhere, _mm512_slli_epi64(fingerprint, s * B::kBits));
  __m512i difference = _mm512_xor_si512(own, everywhere);
  const __mmask8 lodger = _mm512_test_epi64_mask(own, all(kSpillBit));
  difference = _mm512_mask_or_epi64(difference, lodger, difference, all(B::kSlotMask));
  const __mmask8 in_own = _mm512_cmpneq_epi64_mask(occupied8<B>(difference), all(B::kHigh));
  const __m512i spilled = _mm512_xor_si512(_mm512_xor_si512(right, fingerprint), all(kSpillBit));
  return in_own | _mm512_testn_epi64_mask(spilled, all(B::kSlotMask | kSpillBit));
}

__m512i gather(const Word* words, __m512i index) { return _mm512_i64gather_epi64(index, words, 8); }

template <class B>
class Lookup {
 public:
  Lookup(const TableView& table, bool* results)
      : t_(table), buckets_(all(table.geometry.buckets)), results_(results) {}

  struct Chunk {
    alignas(64) std::uint64_t prime[kLookupChunk];
    alignas(64) std::uint64_t fingerprint[kLookupChunk];
  };

  void fetch(const std::uint64_t* hashes, Chunk& chunk) const {
    for (std::size_t i = 0; i < kLookupChunk; i += 8) {
      const __m512i h = _mm512_loadu_si512(hashes + i);
      _mm512_store_si512(chunk.prime + i, prime8(h, buckets_));
      _mm512_store_si512(chunk.fingerprint + i, fingerprint8<B>(h));
      for (std::size_t k = i; k < i + 8; ++k) __builtin_prefetch(t_.words + chunk.prime[k]);
    }
  }

  std::size_t answer(const Chunk& chunk, std::size_t first) const {
    alignas(64) std::uint64_t prime[kLookupChunk + 8];
    alignas(64) std::uint64_t fingerprint[kLookupChunk + 8];
    alignas(64) std::uint64_t position[kLookupChunk + 8];
    alignas(64) std::uint64_t secondary[kLookupChunk + 8];
    std::size_t open = 0;
    std::uint32_t hits = 0;
    __m512i positions = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    for (std::size_t i = 0; i < kLookupChunk; i += 8) {
      const __m512i b = _mm512_load_si512(chunk.prime + i);
      const __m512i fp = _mm512_load_si512(chunk.fingerprint + i);
      const __m512i right = gather(t_.words, right8(b));
      asm volatile("" ::: "memory");  // the neighbour first, see bucket_holds
      const __m512i own = gather(t_.words, b);
      const __mmask8 hit = holds8<B>(own, right, fp);
      hits |= std::uint32_t{hit} << i;
      const __mmask8 go_on = static_cast<__mmask8>(_mm512_test_epi64_mask(own, all(kOverflowBit)) &
                                                   static_cast<unsigned>(~hit));
      const __m512i a = alternate8(b, fp, buckets_);
      _mm512_mask_compressstoreu_epi64(prime + open, go_on, b);
      _mm512_mask_compressstoreu_epi64(fingerprint + open, go_on, fp);
      _mm512_mask_compressstoreu_epi64(position + open, go_on, positions);
      _mm512_mask_compressstoreu_epi64(secondary + open, go_on, a);
      const std::size_t more = static_cast<std::size_t>(__builtin_popcount(go_on));
      for (std::size_t k = open; k < open + more; ++k) __builtin_prefetch(t_.words + secondary[k]);
      open += more;
      positions = _mm512_add_epi64(positions, all(8));
    }
    for (std::size_t k = 0; k < open; k += 8) {
      const auto lanes = static_cast<__mmask8>(open - k >= 8 ? 0xFFu : (1u << (open - k)) - 1);
      hits |= second_pass(lanes, prime + k, secondary + k, fingerprint + k, position + k);
    }
    static_assert(kLookupChunk == 32);
    for (std::size_t i = 0; i < kLookupChunk; ++i) results_[first + i] = (hits >> i & 1) != 0;
    return static_cast<std::size_t>(__builtin_popcount(hits));
  }

 private:
  /// contains_in_two for eight keys; the few that raced with a writer are done again one by one.
  std::uint32_t second_pass(__mmask8 lanes, const std::uint64_t* prime,
                            const std::uint64_t* secondary, const std::uint64_t* fingerprint,
                            const std::uint64_t* position) const {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i b = _mm512_maskz_load_epi64(lanes, prime);
    const __m512i a = _mm512_maskz_load_epi64(lanes, secondary);
    const __m512i fp = _mm512_maskz_load_epi64(lanes, fingerprint);
    const __m512i stripe = _mm512_and_si512(_mm512_srli_epi64(b, 3), all(t_.stripe_mask));
    const __m256i before = _mm512_i64gather_epi32(stripe, t_.stripes, 4);
    asm volatile("" ::: "memory");
    const __m512i right = _mm512_mask_i64gather_epi64(zero, lanes, right8(b), t_.words, 8);
    asm volatile("" ::: "memory");
    const __m512i own = _mm512_mask_i64gather_epi64(zero, lanes, b, t_.words, 8);
    const __m512i far_right = _mm512_mask_i64gather_epi64(zero, lanes, right8(a), t_.words, 8);
    asm volatile("" ::: "memory");
    const __m512i far_own = _mm512_mask_i64gather_epi64(zero, lanes, a, t_.words, 8);
    asm volatile("" ::: "memory");
    const __m256i after = _mm512_i64gather_epi32(stripe, t_.stripes, 4);
    unsigned hit = (holds8<B>(own, right, fp) | holds8<B>(far_own, far_right, fp)) & lanes;
    const __mmask8 moved = _mm256_cmpneq_epi32_mask(before, after) |
                           _mm256_test_epi32_mask(before, _mm256_set1_epi32(1));
    for (unsigned again = moved & lanes & ~hit; again != 0; again &= again - 1) {
      const int k = __builtin_ctz(again);
      hit |= static_cast<unsigned>(contains_in_two<B>(t_, prime[k], secondary[k], fingerprint[k]))
             << k;
    }
    std::uint32_t hits = 0;
    for (; hit != 0; hit &= hit - 1) hits |= std::uint32_t{1} << position[__builtin_ctz(hit)];
    return hits;
  }

  TableView t_;
  __m512i buckets_;
  bool* results_;
};

template <class B>
std::size_t contains_avx512(const TableView& t, const std::uint64_t* hashes, std::size_t n,
                            bool* results) {
  const Lookup<B> lookup(t, results);
  typename Lookup<B>::Chunk chunks[2];
  const std::size_t whole = n - n % kLookupChunk;
  std::size_t found = 0;
  if (whole != 0) lookup.fetch(hashes, chunks[0]);
  for (std::size_t first = 0, c = 0; first < whole; first += kLookupChunk, c ^= 1) {
    if (first + kLookupChunk < whole) lookup.fetch(hashes + first + kLookupChunk, chunks[c ^ 1]);
    found += lookup.answer(chunks[c], first);
  }
  return found + contains_generic<B>(t, hashes + whole, n - whole, results + whole);
}

template <class B>
ScanTotals scan_avx512(const Word* words, std::uint64_t lines, bool spillable,
                       std::uint8_t* occupancy) {
  const unsigned no_spill = spillable ? 0 : 0xFF;
  __m512i count = _mm512_setzero_si512();
  ScanTotals totals;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const __m512i w = _mm512_load_si512(words + line * kWordsPerLine);
    const __m512i occupied = occupied8<B>(w);
    count = _mm512_add_epi64(count, _mm512_popcnt_epi64(occupied));
    const unsigned full = _mm512_cmpeq_epi64_mask(occupied, all(B::kHigh));
    const unsigned slot0 = _mm512_test_epi64_mask(w, all(B::kSlotMask));
    const unsigned blocked = full & (((slot0 >> 1 | slot0 << 7) & 0xFF) | no_spill);
    totals.overflowed +=
        static_cast<unsigned>(__builtin_popcount(_mm512_test_epi64_mask(w, all(kOverflowBit))));
    totals.spilled +=
        static_cast<unsigned>(__builtin_popcount(_mm512_test_epi64_mask(w, all(kSpillBit))));
    totals.full += static_cast<unsigned>(__builtin_popcount(blocked));
    occupancy[line] = static_cast<std::uint8_t>(blocked);
  }
  totals.fingerprints = static_cast<std::uint64_t>(_mm512_reduce_add_epi64(count));
  return totals;
}

template <class B>
void victims_avx512(const Geometry& geometry, const std::uint8_t* occupancy, std::uint64_t bucket,
                    Word own, Word right, Victims& victims) {
  constexpr auto kOwnSlot0 = static_cast<__mmask8>(1u << (B::kSlots - 1));
  constexpr auto kNeighbour = static_cast<__mmask8>(1u << B::kSlots);
  constexpr auto kAll = static_cast<__mmask8>(2 * kNeighbour - 1);
  const auto shift = [](unsigned i) {
    return static_cast<long long>(i < B::kSlots ? (B::kSlots - 1 - i) * B::kBits : 0);
  };
  const __m512i shifts = _mm512_set_epi64(shift(7), shift(6), shift(5), shift(4), shift(3),
                                          shift(2), shift(1), shift(0));
  const __m512i words = _mm512_mask_blend_epi64(kNeighbour, all(own), all(right));
  const __m512i fingerprints =
      _mm512_and_si512(_mm512_srlv_epi64(words, shifts), all(B::kSlotMask));
  const std::uint64_t lodger_home = (own & kSpillBit) != 0 ? left_of(bucket) : bucket;
  const std::uint64_t neighbour_home = (right & kSpillBit) != 0 ? bucket : right_of(bucket);
  __m512i homes = _mm512_mask_blend_epi64(kOwnSlot0, all(bucket), all(lodger_home));
  homes = _mm512_mask_blend_epi64(kNeighbour, homes, all(neighbour_home));
  const __m512i targets = alternate8(homes, fingerprints, all(geometry.buckets));
  const __m256i flags = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), kAll,
                                                    _mm512_srli_epi64(targets, 3), occupancy, 1);
  const __m256i bit =
      _mm512_cvtepi64_epi32(_mm512_sllv_epi64(all(1), _mm512_and_si512(targets, all(7))));
  victims.movable = static_cast<unsigned>(_mm256_testn_epi32_mask(flags, bit)) & kAll;
  _mm512_storeu_si512(victims.targets, targets);
  _mm512_storeu_si512(victims.homes, homes);
  _mm512_storeu_si512(victims.fingerprints, fingerprints);
}

template <class B>
constexpr Kernels kTable{hash_avx512, contains_avx512<B>, scan_avx512<B>, victims_avx512<B>};
}  // namespace

const Kernels& kernels_avx512(Layout layout) { WEIR_KERNEL_TABLE(kTable, layout) }

}  // namespace weir::anifilter
