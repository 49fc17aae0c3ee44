// SPDX-License-Identifier: Apache-2.0
// Small filters with a known content, to be crashed: images in ordinary memory, base tables of many
// shapes, and what an operation on one does to its words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/persistent_region.hpp"
#include "weir/runtime/rng.hpp"

#include "anifilter/trials_oracle.hpp"

namespace weir::anifilter::trials {

/// Bytes at an alignment that a region may have.
class Image {
 public:
  Image() = default;
  explicit Image(std::span<const std::byte> bytes);
  explicit Image(Bytes size);

  [[nodiscard]] std::span<std::byte> bytes();
  [[nodiscard]] std::span<const std::byte> view() const;
  void assign(std::span<const std::byte> bytes);

 private:
  struct alignas(kBlockBytes) Block {
    std::byte bytes[kBlockBytes];
  };
  std::vector<Block> blocks_;
  std::size_t size_ = 0;
};

/// A region over bytes that somebody else owns.
class ImageRegion final : public PersistentRegion {
 public:
  explicit ImageRegion(std::span<std::byte> bytes, bool writable = true)
      : bytes_(bytes), writable_(writable) {}
  std::span<std::byte> bytes() noexcept override { return bytes_; }
  Durability durability() const noexcept override { return Durability::none; }
  FlushInstruction flush_instruction() const noexcept override { return FlushInstruction::none; }
  bool writable() const noexcept override { return writable_; }
  std::string name() const override { return "image in memory"; }

 private:
  std::span<std::byte> bytes_;
  bool writable_;
};

/// One call on a filter. A batch is a call with several keys.
struct Operation {
  enum class Kind : std::uint8_t { insert, erase };
  Kind kind = Kind::insert;
  bool batch = false;
  std::vector<std::uint64_t> keys;
  std::vector<KeyModel::Side> sides;    ///< of the keys, in the model the operation belongs to
  std::vector<std::uint8_t> succeeded;  ///< after run(): inserted, or found and erased
};

/// Does it, and notes what came of it.
void run(Filter& filter, Operation& operation);

/// What a single insert did to the words.
enum class Effect : std::uint8_t { none, own, spill, secondary, lookahead, path };
const char* to_string(Effect effect);
struct EffectReport {
  Effect effect = Effect::none;
  std::vector<Resident> moved;  ///< where residents were that have another home now
};
EffectReport effect_of(std::span<const Word> before, std::span<const Word> after,
                       const LayoutInfo& layout, const Location& newcomer);

/// What an insert of a key at `place` will do, as far as the words tell: own, spill, secondary, or
/// lookahead for "some eviction, or full".
Effect predict(std::span<const Word> words, const LayoutInfo& layout, const Options& options,
               const Location& place);

/// A filter image at rest and the keys in it.
struct Table {
  Options options;
  Image image;
  KeyModel model;

  [[nodiscard]] const LayoutInfo& layout() const { return info(options.layout); }
  /// A key that must be there, near `wanted` groups when there are any; nothing when empty.
  [[nodiscard]] std::optional<std::uint64_t> resident_key(Rng& rng) const;
  void apply(const Operation& operation);  ///< to the model only
};

/// The range that base tables are drawn from.
struct TableRange {
  Consistency consistency = Consistency::relaxed;
  std::uint64_t least_buckets = 8;
  std::uint64_t most_buckets = 64;
  double least_load = 0.5;
  double most_load = 1.0;  ///< 1: to FULL
  bool spillable = false;  ///< only tables with spillable buckets; false: also others
  bool lookahead = false;  ///< only tables with lookahead eviction; false: also others
};

/// Builds one by inserts; every other one is then churned by erases and inserts at its load, so
/// that moves from the secondary to the prime bucket occur and the strict log has a past.
Table make_table(Rng& rng, const TableRange& range);

}  // namespace weir::anifilter::trials
