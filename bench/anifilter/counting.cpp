// SPDX-License-Identifier: Apache-2.0
#include "anifilter/counting.hpp"

namespace weir::bench {

Costs count_ours(const anifilter::Options& options, const Keys& keys) {
  Ours ours(make_counting_region(Filter::region_size(options)), options);
  return count_costs(ours.filter, *ours.region, keys);
}

double load_at_first_full(const anifilter::Options& options, const Keys& keys) {
  Ours ours(options);
  std::uint64_t inserted = 0;
  while (ours.filter.insert(keys.present(inserted)) == InsertResult::inserted) ++inserted;
  return static_cast<double>(inserted) / static_cast<double>(ours.filter.slots());
}

}  // namespace weir::bench
