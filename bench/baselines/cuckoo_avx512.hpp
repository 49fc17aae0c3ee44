// SPDX-License-Identifier: Apache-2.0
// The rival's batched lookup, eight keys an instruction. Reached only when active_isa() says so.
#pragma once
#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#include "baselines/cuckoo_buckets.hpp"

#define WEIR_TARGET_AVX512 [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl")]]

namespace weir::bench::cuckoo {

/// Where the keys of one block lie; kept between prefetching and looking.
struct LookupBlock {
  static constexpr std::size_t kKeys = 32;
  alignas(64) std::uint64_t first[kKeys];
  alignas(64) std::uint64_t second[kKeys];
  alignas(64) std::uint64_t tag[kKeys];
};

/// weir::mix64 on eight keys.
WEIR_TARGET_AVX512 inline __m512i mix64_avx512(__m512i x) {
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 27));
  x = _mm512_mullo_epi64(x, _mm512_set1_epi64(0x3C79AC492BA7B653));
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
  x = _mm512_mullo_epi64(x, _mm512_set1_epi64(0x1C69B3F74AC4AE35));
  return _mm512_xor_si512(x, _mm512_srli_epi64(x, 27));
}

/// Hashes a whole block: `first`, `second` are byte offsets, `tag` is in all four slots.
template <std::size_t kStride>
WEIR_TARGET_AVX512 inline void locate_avx512(const std::uint64_t* keys, std::uint64_t seed,
                                             std::uint64_t bucket_mask, LookupBlock& block) {
  const __m512i mask = _mm512_set1_epi64(static_cast<long long>(bucket_mask));
  const __m512i salt = _mm512_set1_epi64(static_cast<long long>(seed));
  const __m512i one = _mm512_set1_epi64(1);
  const auto offset = [](__m512i bucket) __attribute__((target("avx512f"))) {
    if constexpr (kStride == sizeof(Word)) {
      return _mm512_slli_epi64(bucket, 3);
    } else {
      static_assert(kStride == 6);
      return _mm512_add_epi64(_mm512_slli_epi64(bucket, 2), _mm512_slli_epi64(bucket, 1));
    }
  };
  for (std::size_t i = 0; i < LookupBlock::kKeys; i += 8) {
    const __m512i hash = mix64_avx512(_mm512_xor_si512(_mm512_loadu_si512(keys + i), salt));
    __m512i tag = _mm512_and_si512(hash, _mm512_set1_epi64(static_cast<long long>(kTagMask)));
    tag = _mm512_mask_mov_epi64(tag, _mm512_testn_epi64_mask(tag, tag), one);
    const __m512i first = _mm512_and_si512(_mm512_srli_epi64(hash, 32), mask);
    const __m512i hop = _mm512_mul_epu32(tag, _mm512_set1_epi64(0x5bd1e995));
    const __m512i second = _mm512_and_si512(_mm512_xor_si512(first, hop), mask);
    const __m512i pair = _mm512_or_si512(tag, _mm512_slli_epi64(tag, kTagBits));
    _mm512_store_si512(block.tag + i, _mm512_or_si512(pair, _mm512_slli_epi64(pair, 2 * kTagBits)));
    _mm512_store_si512(block.first + i, offset(first));
    _mm512_store_si512(block.second + i, offset(second));
  }
}

/// Looks a located block up; returns how many were found.
WEIR_TARGET_AVX512 inline std::size_t look_up_avx512(const std::byte* base,
                                                     const LookupBlock& block, bool* results) {
  const __m512i low = _mm512_set1_epi64(static_cast<long long>(kLowBits));
  const __m512i high = _mm512_set1_epi64(static_cast<long long>(kHighBits));
  const __m512i zero = _mm512_setzero_si512();
  std::size_t found = 0;
  for (std::size_t i = 0; i < LookupBlock::kKeys; i += 8) {
    const __m512i tag = _mm512_load_si512(block.tag + i);
    const __m512i a = _mm512_xor_si512(
        tag, _mm512_mask_i64gather_epi64(zero, 0xFF, _mm512_load_si512(block.first + i), base, 1));
    const __m512i b = _mm512_xor_si512(
        tag, _mm512_mask_i64gather_epi64(zero, 0xFF, _mm512_load_si512(block.second + i), base, 1));
    // The zero-slot test of cuckoo_buckets.hpp; its last step & kHighBits is shared by both.
    const __m512i hits = _mm512_or_si512(_mm512_andnot_si512(a, _mm512_sub_epi64(a, low)),
                                         _mm512_andnot_si512(b, _mm512_sub_epi64(b, low)));
    const __mmask8 match = _mm512_test_epi64_mask(hits, high);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(results + i),
                     _mm_and_si128(_mm_movm_epi8(match), _mm_set1_epi8(1)));
    found += static_cast<std::size_t>(__builtin_popcount(match));
  }
  return found;
}

}  // namespace weir::bench::cuckoo
