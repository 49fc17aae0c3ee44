// SPDX-License-Identifier: Apache-2.0
// The rival's batched lookup, eight keys an instruction. Reached only when active_isa() says so.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <immintrin.h>

#include "baselines/cuckoo_buckets.hpp"

#define WEIR_TARGET_AVX512 [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl")]]

namespace weir::bench::cuckoo {

/// Where the keys of one block lie; kept between prefetching and looking.
struct LookupBlock {
  static constexpr std::size_t kKeys = 16;
  alignas(64) std::uint64_t first[kKeys];
  alignas(64) std::uint64_t second[kKeys];
  alignas(64) std::uint64_t tag[kKeys];
};

// Operators of the compilers' vector types rather than intrinsics where there is a choice: easier
// to read, and g++ 12 warns about uninitialised values inside the intrinsics (PR 105593).
using Eight = std::uint64_t __attribute__((vector_size(64)));

/// weir::mix64 on eight keys.
WEIR_TARGET_AVX512 inline Eight mix64_avx512(Eight x) {
  x ^= x >> 27;
  x *= 0x3C79AC492BA7B653u;
  x ^= x >> 33;
  x *= 0x1C69B3F74AC4AE35u;
  return x ^ (x >> 27);
}

/// Hashes a whole block: `first` and `second` become byte offsets, `tag` is in all four slots.
template <std::size_t kStride>
WEIR_TARGET_AVX512 inline void locate_avx512(const std::uint64_t* keys, std::uint64_t salt,
                                             std::uint64_t bucket_mask, LookupBlock& block) {
  for (std::size_t i = 0; i < LookupBlock::kKeys; i += 8) {
    Eight key;
    std::memcpy(&key, keys + i, sizeof key);
    const Eight hash = mix64_avx512(key ^ salt);
    Eight tag = hash & kTagMask;
    tag -= reinterpret_cast<Eight>(tag == 0);  // the comparison gives -1 where it holds
    const Eight first = (hash >> 32) & bucket_mask;
    const Eight second = (first ^ (tag * 0x5bd1e995u)) & bucket_mask;
    const Eight tags = tag * kLowBits;
    const Eight first_offset = first * kStride;
    const Eight second_offset = second * kStride;
    std::memcpy(block.tag + i, &tags, sizeof tags);
    std::memcpy(block.first + i, &first_offset, sizeof first_offset);
    std::memcpy(block.second + i, &second_offset, sizeof second_offset);
  }
}

WEIR_TARGET_AVX512 inline Eight gather_avx512(const std::byte* base, const std::uint64_t* offsets) {
  return reinterpret_cast<Eight>(_mm512_mask_i64gather_epi64(_mm512_setzero_si512(), 0xFF,
                                                             _mm512_load_si512(offsets), base, 1));
}

/// Looks a located block up; returns how many were found.
WEIR_TARGET_AVX512 inline std::size_t look_up_avx512(const std::byte* base,
                                                     const LookupBlock& block, bool* results) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < LookupBlock::kKeys; i += 8) {
    Eight tag;
    std::memcpy(&tag, block.tag + i, sizeof tag);
    const Eight a = gather_avx512(base, block.first + i) ^ tag;
    const Eight b = gather_avx512(base, block.second + i) ^ tag;
    // zero_slots() of cuckoo_buckets.hpp for both buckets at once.
    const Eight hits = ((a - kLowBits) & ~a) | ((b - kLowBits) & ~b);
    const __mmask8 match = _mm512_test_epi64_mask(
        reinterpret_cast<__m512i>(hits), _mm512_set1_epi64(static_cast<long long>(kHighBits)));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(results + i),
                     _mm_and_si128(_mm_movm_epi8(match), _mm_set1_epi8(1)));
    found += static_cast<std::size_t>(__builtin_popcount(match));
  }
  return found;
}

}  // namespace weir::bench::cuckoo
