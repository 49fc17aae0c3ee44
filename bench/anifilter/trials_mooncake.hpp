// SPDX-License-Identifier: Apache-2.0
// The filter at work in front of a KV cache: which of its blocks does a node hold? The block ids of
// a published trace, an LRU cache of 20,000 blocks: look up on use, insert on first use, erase on
// eviction. Looped with the epoch number mixed into the keys; killed and reopened on the way.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "weir/anifilter/filter.hpp"

#include "anifilter/mooncake_trace.hpp"

namespace weir::anifilter::trials {

/// What the cache asks of the filter for one pass over a trace. The same for every epoch but the
/// first, since a cache smaller than the trace keeps nothing of an earlier epoch's order.
class BlockStream {
 public:
  enum class Ask : std::uint8_t {
    hit,     ///< look up a block that is cached
    miss,    ///< look up one that is not
    insert,  ///< it is cached now
    erase,   ///< evicted
  };
  struct Step {
    std::uint32_t block;
    Ask ask;
    bool of_last_epoch;  ///< the key is that of the epoch before
  };

  BlockStream(std::span<const MooncakeRequest> requests, std::size_t cache_blocks);

  [[nodiscard]] std::uint64_t distinct() const { return distinct_; }
  [[nodiscard]] std::uint64_t evictions_per_epoch() const { return evictions_; }
  [[nodiscard]] std::uint64_t accesses_per_epoch() const { return accesses_; }

  /// Step `position` of the endless stream, and its key.
  [[nodiscard]] const Step& at(std::uint64_t position) const;
  [[nodiscard]] std::uint64_t key(std::uint64_t position) const;
  /// The first position of the second epoch: from here on the cache is full.
  [[nodiscard]] std::uint64_t steady() const { return first_.size(); }

 private:
  std::vector<Step> first_;  // epoch 0
  std::vector<Step> later_;  // any later epoch
  std::uint64_t distinct_ = 0;
  std::uint64_t evictions_ = 0;
  std::uint64_t accesses_ = 0;
};

struct MooncakeOptions {
  std::uint64_t operations = 10'000'000;
  std::uint64_t kills = 20;
  std::size_t cache_blocks = 20'000;
  double load = 0.93;
  Layout layout = Layout::k5x12;
  Consistency consistency = Consistency::relaxed;
  std::uint64_t seed = 1;
};

struct MooncakeResult {
  std::uint64_t operations = 0;        ///< lookups, inserts and erases, all acknowledged
  std::uint64_t timed_operations = 0;  ///< of them, in the half that is timed (no kills)
  double seconds = 0;                  ///< thread CPU time of that half
  std::uint64_t kills = 0;
  std::uint64_t false_negatives = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t misses_looked_up = 0;
  std::uint64_t lost_after_kill = 0;  ///< acknowledged keys missing after a kill and reopen
  std::uint64_t keys_checked = 0;     ///< after kills
  double load_when_steady = 0;        ///< least load seen after each kill once the cache is full
  std::string problem;

  [[nodiscard]] double mops() const {
    return seconds > 0 ? 1e-6 * static_cast<double>(timed_operations) / seconds : 0;
  }
};

MooncakeResult run_mooncake_trial(const BlockStream& stream, const MooncakeOptions& options);

}  // namespace weir::anifilter::trials
