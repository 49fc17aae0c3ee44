// SPDX-License-Identifier: Apache-2.0
#include "weir/anifilter/options.hpp"

#include <cmath>
#include <string>

#include "weir/anifilter/faults.hpp"
#include "weir/runtime/error.hpp"

#include "anifilter/pool_header.hpp"

namespace weir::anifilter {

std::optional<Layout> parse_layout(std::string_view name) {
  for (const LayoutInfo& layout : kLayouts)
    if (layout.name == name) return layout.layout;
  return std::nullopt;
}

std::uint64_t bucket_count(const Options& options) {
  if (options.buckets != 0) {
    WEIR_EXPECTS(options.capacity == 0, "set either capacity or buckets, not both");
    WEIR_EXPECTS(options.buckets % 8 == 0 && options.buckets <= kMostBuckets,
                 "buckets is " + std::to_string(options.buckets) +
                     ", must be a multiple of 8 (one line) from 8 to " +
                     std::to_string(kMostBuckets));
    return options.buckets;
  }
  WEIR_EXPECTS(options.capacity != 0, "capacity is 0: say how many keys the filter shall hold");
  WEIR_EXPECTS(options.max_load > 0 && options.max_load <= 0.98,
               "max_load is " + std::to_string(options.max_load) + ", must be in (0, 0.98]");
  const double slots = static_cast<double>(options.capacity) / options.max_load;
  const double buckets = std::ceil(slots / info(options.layout).slots / 8) * 8;
  WEIR_EXPECTS(buckets <= static_cast<double>(kMostBuckets),
               "capacity " + std::to_string(options.capacity) + " needs more than " +
                   std::to_string(kMostBuckets) + " buckets of layout " +
                   std::string(info(options.layout).name) +
                   "; split the keys over several filters");
  return static_cast<std::uint64_t>(buckets);
}

std::string_view to_string(Fault fault) {
  constexpr std::string_view kNames[kFaultCount + 1] = {
      "none",
      "no_overflow_bit",
      "no_fence_after_copy",
      "no_overflow_on_victim_home",
      "overflow_bit_after_copy",
      "no_flush_of_second_line",
      "header_before_data",
      "early_log_clear",
      "recovery_skips_log",
      "torn_update",
      "no_occupancy_update",
      "recovery_keeps_log",
  };
  return kNames[static_cast<unsigned>(fault)];
}

}  // namespace weir::anifilter
