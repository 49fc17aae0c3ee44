// SPDX-License-Identifier: Apache-2.0
// The first 8 KiB of a filter: two header copies and the log records. Bit by bit in
// docs/anifilter.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "weir/anifilter/options.hpp"
#include "weir/runtime/units.hpp"

namespace weir::anifilter {

inline constexpr std::size_t kHeaderCopyOffset[2] = {0, 2048};
inline constexpr std::size_t kLogOffset = 4096;
inline constexpr std::size_t kLogRecords = 64;  // one a thread slot, 64 bytes each
inline constexpr std::size_t kTableOffset = 8192;
inline constexpr std::uint64_t kMostBuckets = (std::uint64_t{1} << 32) - 8;

/// Little endian; all fields fixed at creation, so it is never written again except to repair a
/// copy.
struct PoolHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint32_t slots;
  std::uint32_t fingerprint_bits;
  std::uint32_t flags;
  std::uint32_t zero0;
  std::uint64_t buckets;
  std::uint64_t hash_seed;
  std::uint64_t log_offset;
  std::uint64_t log_records;
  std::uint64_t table_offset;
  std::uint64_t total_bytes;
  std::uint64_t zero1;
  std::uint64_t checksum;  ///< XXH64 of all before it, seed 0
};
static_assert(sizeof(PoolHeader) == 96);
inline constexpr std::size_t kHeaderWords = sizeof(PoolHeader) / 8;

PoolHeader make_pool_header(const Options& options, std::uint64_t buckets);

/// What a filter with this header was made with.
Options options_of(const PoolHeader& header);

/// Reads the first good copy. Throws CorruptData with what is wrong with the first copy when
/// neither is good. `good[i]` tells which are.
PoolHeader read_pool_header(std::span<const std::byte> region, const std::string& name,
                            bool (&good)[2]);

/// One entry of a log record (two words): "fingerprint is being copied from source to destination".
struct LogEntry {
  bool valid;
  std::uint64_t source_word;
  unsigned source_slot;
  std::uint64_t destination_word;
  unsigned destination_slot;
  std::uint64_t fingerprint;

  static constexpr Word source(std::uint64_t word, unsigned slot) {
    return Word{1} << 63 | Word{slot} << 32 | word;
  }
  static constexpr Word destination(std::uint64_t word, unsigned slot, std::uint64_t fingerprint) {
    return fingerprint << 36 | Word{slot} << 32 | word;
  }
  static constexpr LogEntry decode(Word source, Word destination) {
    return {source >> 63 != 0,
            source & 0xFFFFFFFF,
            unsigned(source >> 32 & 7),
            destination & 0xFFFFFFFF,
            unsigned(destination >> 32 & 7),
            destination >> 36 & 0xFFFFF};
  }
};

inline Bytes pool_bytes(std::uint64_t buckets) { return {kTableOffset + buckets * 8}; }

}  // namespace weir::anifilter
