// SPDX-License-Identifier: Apache-2.0
// Buckets of the rival: 4 slots x 12 bits, and the two ways in which they lie in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "weir/runtime/persistent_access.hpp"

namespace weir::bench::cuckoo {

inline constexpr unsigned kSlots = 4;
inline constexpr unsigned kTagBits = 12;
inline constexpr Word kTagMask = (Word{1} << kTagBits) - 1;
inline constexpr Word kLowBits = 0x001001001001;   ///< lowest bit of each slot
inline constexpr Word kHighBits = 0x800800800800;  ///< highest bit of each slot
inline constexpr Word kBucketMask = (Word{1} << kSlots * kTagBits) - 1;

/// Highest bit of every slot that is zero. Exact up to and including the lowest zero slot, which is
/// enough for "is there one" and "where is the first".
constexpr Word zero_slots(Word bucket) { return (bucket - kLowBits) & ~bucket & kHighBits; }
constexpr bool has_tag(Word bucket, Word tag) { return zero_slots(bucket ^ (tag * kLowBits)) != 0; }
constexpr bool is_full(Word bucket) { return zero_slots(bucket) == 0; }
constexpr unsigned first_free(Word bucket) {
  return static_cast<unsigned>(__builtin_ctzll(zero_slots(bucket))) / kTagBits;
}
constexpr Word tag_at(Word bucket, unsigned slot) { return (bucket >> slot * kTagBits) & kTagMask; }
constexpr Word with_tag(Word bucket, unsigned slot, Word tag) {
  return (bucket & ~(kTagMask << slot * kTagBits)) | tag << slot * kTagBits;
}

/// One bucket in one aligned 8-byte word, 48 of its bits used. The published 6-byte bucket would
/// straddle the 8-byte unit that persistent memory writes atomically, so a crash could tear a tag.
/// Works with every access policy; every store is flushed and fenced.
template <class Access>
class WordBuckets {
 public:
  static constexpr std::size_t kStride = sizeof(Word);
  static constexpr bool kDirect = Access::kDirect;

  WordBuckets(PersistentRegion& region, std::uint64_t)
      : access_(region), words_(reinterpret_cast<Word*>(region.bytes().data())) {}

  Word load(std::uint64_t bucket) const { return access_.load(words_ + bucket); }
  void store(std::uint64_t bucket, Word value) {
    access_.store(words_ + bucket, value);
    access_.flush(words_ + bucket);
    access_.fence();
  }
  void prefetch(std::uint64_t bucket) const { access_.prefetch(words_ + bucket); }
  void prefetch_write(std::uint64_t bucket) const { access_.prefetch_write(words_ + bucket); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(words_); }
  const Access& access() const { return access_; }

 private:
  Access access_;
  Word* words_;
};

/// The published layout: 6 bytes a bucket, one after the other. A quarter smaller, so it caches
/// better, but a store to it is not failure-atomic and one bucket in sixteen straddles two lines.
/// For ordinary memory only.
class PackedBuckets {
 public:
  static constexpr std::size_t kStride = kSlots * kTagBits / 8;
  static constexpr bool kDirect = true;

  PackedBuckets(PersistentRegion& region, std::uint64_t)
      : access_(region), bytes_(region.bytes().data()) {}

  Word load(std::uint64_t bucket) const {
    Word value;
    std::memcpy(&value, at(bucket), sizeof value);
    return value & kBucketMask;
  }
  void store(std::uint64_t bucket, Word value) { std::memcpy(at(bucket), &value, kStride); }
  void prefetch(std::uint64_t bucket) const { __builtin_prefetch(at(bucket)); }
  void prefetch_write(std::uint64_t bucket) const { __builtin_prefetch(at(bucket), 1); }
  const std::byte* data() const { return bytes_; }
  const FlushFreeAccess& access() const { return access_; }

 private:
  std::byte* at(std::uint64_t bucket) const { return bytes_ + bucket * kStride; }
  FlushFreeAccess access_;
  std::byte* bytes_;
};

}  // namespace weir::bench::cuckoo
