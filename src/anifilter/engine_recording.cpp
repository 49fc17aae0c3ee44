// SPDX-License-Identifier: Apache-2.0
#include "anifilter/core.hpp"
#include "anifilter/make_core.hpp"

namespace weir::anifilter {

std::unique_ptr<Engine> make_recording_engine(RegionHolder region, const PoolHeader& header) {
  return make_core<RecordingAccess>(std::move(region), header);
}

}  // namespace weir::anifilter
