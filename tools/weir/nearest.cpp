// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "program.hpp"

namespace weir::tool {
namespace {

/// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  word = word.substr(0, 64);  // the table is quadratic; no name here is longer
  std::string best;
  std::size_t best_edits = word.size() / 3 + 2;  // "qry" is "query", "frobnicate" is nothing
  for (const auto& candidate : candidates) {
    const bool begins = word.size() > 1 && candidate.starts_with(word);
    const std::size_t n = begins ? 1 : edits(word, candidate);
    if (n < best_edits) {
      best_edits = n;
      best = candidate;
    }
  }
  return best;
}

}  // namespace weir::tool
