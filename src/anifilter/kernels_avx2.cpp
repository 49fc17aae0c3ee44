// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2 and BMI2. The lookup is the generic one: four-wide gathers gain nothing over
// eight scalar loads here, the compiler's use of the wider instruction set does.
#include <algorithm>

#include <immintrin.h>

#include "anifilter/kernels_generic.hpp"
#include "anifilter/kernels_table.hpp"

namespace weir::anifilter {
namespace {

/// occupied() of four buckets.
template <class B>
__m256i occupied4(__m256i words) {
  const __m256i below = _mm256_set1_epi64x(static_cast<long long>(B::kBelowHigh));
  const __m256i sum = _mm256_add_epi64(_mm256_and_si256(words, below), below);
  return _mm256_and_si256(_mm256_or_si256(sum, words),
                          _mm256_set1_epi64x(static_cast<long long>(B::kHigh)));
}
/// Bit i: the 64-bit lane i of `a` equals that of `b`.
unsigned equal4(__m256i a, __m256i b) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b))));
}
/// Bit i: bit `bit` of lane i.
template <int Bit>
unsigned bits4(__m256i words) {
  return static_cast<unsigned>(
      _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(words, 63 - Bit))));
}

template <class B>
ScanTotals scan_avx2(const Word* words, std::uint64_t lines, bool spillable,
                     std::uint8_t* occupancy) {
  ScanTotals totals;
  const __m256i high = _mm256_set1_epi64x(static_cast<long long>(B::kHigh));
  const __m256i slot_mask = _mm256_set1_epi64x(static_cast<long long>(B::kSlotMask));
  const __m256i zero = _mm256_setzero_si256();
  const unsigned no_spill = spillable ? 0 : 0xFF;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const auto* p = reinterpret_cast<const __m256i*>(words + line * kWordsPerLine);
    const __m256i low_half = _mm256_load_si256(p);
    const __m256i high_half = _mm256_load_si256(p + 1);
    const __m256i low_occupied = occupied4<B>(low_half);
    const __m256i high_occupied = occupied4<B>(high_half);
    alignas(32) Word lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), low_occupied);
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes + 4), high_occupied);
    for (const Word lane : lanes)
      totals.fingerprints += static_cast<unsigned>(__builtin_popcountll(lane));
    const unsigned full = equal4(low_occupied, high) | equal4(high_occupied, high) << 4;
    const unsigned slot0 = 0xFFu & ~(equal4(_mm256_and_si256(low_half, slot_mask), zero) |
                                     equal4(_mm256_and_si256(high_half, slot_mask), zero) << 4);
    totals.overflowed +=
        static_cast<unsigned>(__builtin_popcount(bits4<61>(low_half) | bits4<61>(high_half) << 4));
    totals.spilled +=
        static_cast<unsigned>(__builtin_popcount(bits4<60>(low_half) | bits4<60>(high_half) << 4));
    const unsigned blocked = full & (((slot0 >> 1 | slot0 << 7) & 0xFF) | no_spill);
    totals.full += static_cast<unsigned>(__builtin_popcount(blocked));
    occupancy[line] = static_cast<std::uint8_t>(blocked);
  }
  return totals;
}

template <class B>
constexpr Kernels kTable{hash_generic, contains_generic<B>, scan_avx2<B>, victims_generic<B>};
}  // namespace

const Kernels& kernels_avx2(Layout layout) { WEIR_KERNEL_TABLE(kTable, layout) }

}  // namespace weir::anifilter
