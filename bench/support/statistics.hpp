// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

namespace weir::bench {

/// The middle of some samples and how far they lie apart.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
  std::size_t samples = 0;
};

/// An even number of samples has the mean of the middle two as its median. No samples: all zero.
Spread spread_of(std::vector<double> samples);

}  // namespace weir::bench
