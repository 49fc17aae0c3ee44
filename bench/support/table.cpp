// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "support/results.hpp"

namespace weir::bench {
namespace {

using Row = std::array<std::string, 6>;

std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return text("%.0f", value);
  if (value != 0 && (value < 1e-3 || value >= 1e6)) return text("%.3g", value);
  return text(value < 10 ? "%.3f" : value < 1000 ? "%.1f" : "%.0f", value);
}

std::string asked(const Bar* bar, bool full) {
  if (bar == nullptr || bar->ask == Bar::Ask::report) return "";
  const char* sign = bar->ask == Bar::Ask::at_most ? "<= " : ">= ";
  const auto must = bar->must_for(full);
  if (bar->ask == Bar::Ask::within) return text("%g to %g", *must, *bar->upper);
  std::string result = must ? sign + text("%g", *must) : "";
  if (bar->reach)
    result += (must ? " (aim " : std::string("aim ") + sign) + text("%g", *bar->reach);
  if (bar->reach && must) result += ")";
  return result;
}

}  // namespace

std::string results_table(const Figures& figures, const RunOptions& options) {
  std::vector<Row> rows{{"figure", "value", "asked", "met", "kind", "min .. max (samples)"}};
  for (const Figure& figure : figures.figures()) {
    const Bar* bar = figures.bar_of(figure.name);
    const Met met = bar != nullptr ? judge(*bar, figure.value, options.full) : Met::not_asked;
    rows.push_back({figure.name, number(figure.value) + " " + figure.unit, asked(bar, options.full),
                    met == Met::no      ? "NO"
                    : met == Met::must  ? "yes"
                    : met == Met::reach ? "aim"
                                        : "",
                    std::string(to_string(figure.kind)),
                    figure.samples > 1 ? number(*figure.min) + " .. " + number(*figure.max) +
                                             text(" (%zu)", figure.samples)
                                       : ""});
  }
  for (const std::string& name : figures.missing()) {
    std::string why = "not measured";
    for (const auto& skipped : figures.skipped())
      if (skipped.name == name) why = "skipped: " + skipped.reason;
    rows.push_back({name, "missing", asked(figures.bar_of(name), options.full), "NO", "", why});
  }
  std::array<std::size_t, 6> widths{};
  for (const Row& row : rows)
    for (std::size_t column = 0; column + 1 < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string result;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::string cell = row[column];
      if (column + 1 < row.size()) cell.resize(widths[column] + 2, ' ');
      line += cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  for (const std::string& what : figures.wrong_results()) result += "WRONG: " + what + "\n";
  return result;
}

}  // namespace weir::bench
