// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "anifilter/core.hpp"

namespace weir::anifilter {

/// The instance for the layout that `header` (checked before) names.
template <class Access>
std::unique_ptr<Engine> make_core(RegionHolder region, const PoolHeader& header) {
  switch (options_of(header).layout) {
    case Layout::k7x8:
      return std::make_unique<Core<Bucket<7, 8>, Access>>(std::move(region), header);
    case Layout::k6x10:
      return std::make_unique<Core<Bucket<6, 10>, Access>>(std::move(region), header);
    case Layout::k5x12:
      break;
    case Layout::k4x15:
      return std::make_unique<Core<Bucket<4, 15>, Access>>(std::move(region), header);
    case Layout::k3x20:
      return std::make_unique<Core<Bucket<3, 20>, Access>>(std::move(region), header);
  }
  return std::make_unique<Core<Bucket<5, 12>, Access>>(std::move(region), header);
}

}  // namespace weir::anifilter
