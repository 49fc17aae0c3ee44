// SPDX-License-Identifier: Apache-2.0
#include "support/statistics.hpp"

#include <algorithm>

namespace weir::bench {

Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const double median =
      samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back(), samples.size()};
}

}  // namespace weir::bench
