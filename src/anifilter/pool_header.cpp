// SPDX-License-Identifier: Apache-2.0
#include "anifilter/pool_header.hpp"

#include <cstring>

#include "weir/runtime/error.hpp"
#include "weir/runtime/hash.hpp"

namespace weir::anifilter {
namespace {

constexpr char kMagic[8] = {'W', 'E', 'I', 'R', 'A', 'N', 'I', 'F'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::uint32_t kSwappedByteOrder = 0x04030201;
enum Flag : std::uint32_t { kStrict = 1, kSpillable = 2, kLookahead = 4, kPrimacy = 8 };
constexpr std::uint32_t kAllFlags = 15;

std::uint64_t checksum_of(const PoolHeader& header) {
  return hash_bytes({reinterpret_cast<const std::byte*>(&header), offsetof(PoolHeader, checksum)});
}

std::optional<Layout> layout_of(const PoolHeader& header) {
  for (const LayoutInfo& layout : kLayouts)
    if (layout.slots == header.slots && layout.fingerprint_bits == header.fingerprint_bits)
      return layout.layout;
  return std::nullopt;
}

/// "" or what is wrong.
std::string problem_of(const PoolHeader& header, std::size_t region_bytes) {
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    const PoolHeader none{};
    if (std::memcmp(&header, &none, sizeof none) == 0)
      return "the header is empty: this is not a filter, or its creation was interrupted; delete "
             "it and "
             "create it again";
    return "wrong magic: this is not a filter file; check the path";
  }
  if (header.byte_order == kSwappedByteOrder)
    return "it was written on a machine with the other byte order; create it again on this one";
  if (header.byte_order != kByteOrder)
    return "byte-order mark is " + std::to_string(header.byte_order) + ", want " +
           std::to_string(kByteOrder) + ": the header is damaged; restore the file";
  if (header.version != kVersion)
    return "format version is " + std::to_string(header.version) + ", this build reads version " +
           std::to_string(kVersion) + "; use the Weir release that wrote it";
  if (header.checksum != checksum_of(header))
    return "header checksum does not match: the header is damaged; restore the file from a copy";
  if (!layout_of(header))
    return "layout " + std::to_string(header.slots) + "x" +
           std::to_string(header.fingerprint_bits) + " is not one of 7x8, 6x10, 5x12, 4x15, 3x20";
  if ((header.flags & ~kAllFlags) != 0)
    return "unknown flags " + std::to_string(header.flags) + "; use a newer Weir release";
  if (header.buckets == 0 || header.buckets % 8 != 0 || header.buckets > kMostBuckets)
    return "bucket count " + std::to_string(header.buckets) + " is not a multiple of 8 below 2^32";
  if (header.log_offset != kLogOffset || header.log_records != kLogRecords ||
      header.table_offset != kTableOffset || header.total_bytes != pool_bytes(header.buckets).value)
    return "offsets or size in the header do not fit version 1";
  if (header.total_bytes > region_bytes)
    return "truncated: it has " + std::to_string(region_bytes) + " bytes, the header says " +
           std::to_string(header.total_bytes) + "; restore the file from a copy";
  return {};
}

}  // namespace

PoolHeader make_pool_header(const Options& options, std::uint64_t buckets) {
  PoolHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.byte_order = kByteOrder;
  header.slots = info(options.layout).slots;
  header.fingerprint_bits = info(options.layout).fingerprint_bits;
  header.flags = (options.consistency == Consistency::strict ? kStrict : 0u) |
                 (options.spillable_buckets ? kSpillable : 0u) |
                 (options.lookahead_eviction ? kLookahead : 0u) |
                 (options.bucket_primacy ? kPrimacy : 0u);
  header.buckets = buckets;
  header.hash_seed = options.hash_seed;
  header.log_offset = kLogOffset;
  header.log_records = kLogRecords;
  header.table_offset = kTableOffset;
  header.total_bytes = pool_bytes(buckets).value;
  header.checksum = checksum_of(header);
  return header;
}

Options options_of(const PoolHeader& header) {
  Options options;
  options.buckets = header.buckets;
  options.layout = layout_of(header).value();
  options.consistency = (header.flags & kStrict) != 0 ? Consistency::strict : Consistency::relaxed;
  options.hash_seed = header.hash_seed;
  options.spillable_buckets = (header.flags & kSpillable) != 0;
  options.lookahead_eviction = (header.flags & kLookahead) != 0;
  options.bucket_primacy = (header.flags & kPrimacy) != 0;
  return options;
}

PoolHeader read_pool_header(std::span<const std::byte> region, const std::string& name,
                            bool (&good)[2]) {
  if (region.size() < kTableOffset)
    throw CorruptData(name + ": " + std::to_string(region.size()) +
                      " bytes are too few for a filter (at least " +
                      std::to_string(kTableOffset + kLineBytes) + "); check the path");
  PoolHeader copies[2];
  std::string problems[2];
  for (int i = 0; i < 2; ++i) {
    std::memcpy(&copies[i], region.data() + kHeaderCopyOffset[i], sizeof(PoolHeader));
    problems[i] = problem_of(copies[i], region.size());
    good[i] = problems[i].empty();
  }
  if (!good[0] && !good[1]) throw CorruptData(name + ": " + problems[0]);
  return copies[good[0] ? 0 : 1];
}

}  // namespace weir::anifilter
