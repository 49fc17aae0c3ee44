// SPDX-License-Identifier: Apache-2.0
#include "support/figures.hpp"

#include <algorithm>
#include <cmath>

#include "weir/runtime/error.hpp"

namespace weir::bench {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::measured:
      return "measured";
    case Kind::counted:
      return "counted";
    case Kind::emulated:
      return "emulated";
    case Kind::simulated:
      return "simulated";
  }
  return "?";
}

std::string_view to_string(Better better) { return better == Better::higher ? "higher" : "lower"; }

std::string_view to_string(Met met) {
  switch (met) {
    case Met::no:
      return "no";
    case Met::must:
      return "must";
    case Met::reach:
      return "reach";
    case Met::not_asked:
      return "";
  }
  return "?";
}

Figure& Figure::over(const Spread& spread) {
  value = spread.median;
  min = spread.min;
  max = spread.max;
  samples = spread.samples;
  return *this;
}

std::optional<double> Bar::must_for(bool full) const {
  return full && must_in_full ? must_in_full : must;
}

bool Bar::matches(std::string_view figure) const {
  if (!name.empty() && name.back() == '*')
    return figure.starts_with(name.substr(0, name.size() - 1));
  return figure == name;
}

Met judge(const Bar& bar, double value, bool full) {
  const auto must = bar.must_for(full);
  const auto holds = [&](double asked) {
    return bar.ask == Bar::Ask::at_most ? value <= asked : value >= asked;
  };
  if (bar.ask == Bar::Ask::report || (!must && !bar.reach)) return Met::not_asked;
  if (bar.ask == Bar::Ask::within)
    return value >= *must && value <= *bar.upper ? Met::must : Met::no;
  if (must && !holds(*must)) return Met::no;
  if (bar.reach && holds(*bar.reach)) return Met::reach;
  return must ? Met::must : Met::no;
}

Figures::Figures(std::span<const Bar> bars, const RunOptions& options)
    : bars_(bars.begin(), bars.end()), options_(options) {
  if (options.only.empty()) return;
  try {
    only_.emplace(options.only, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    throw InvalidArgument("--only '" + options.only + "' is not a regular expression (" +
                          error.what() + ")");
  }
}

bool Figures::selected(std::string_view name) const {
  return !only_ || std::regex_search(name.begin(), name.end(), *only_);
}

bool Figures::wants(std::string_view name) const { return topic_named_ || selected(name); }

bool Figures::wants_topic(std::string_view topic) const {
  return selected(topic) || std::any_of(bars_.begin(), bars_.end(), [&](const Bar& bar) {
           return bar.topic == topic && selected(bar.name);
         });
}

void Figures::enter_topic(std::string_view topic) { topic_named_ = only_ && selected(topic); }

void Figures::add(Figure figure) {
  if (!wants(figure.name)) return;
  if (!std::isfinite(figure.value)) {
    wrong(figure.name + " is not a number");
    return;
  }
  if (find(figure.name) != nullptr) {
    wrong(figure.name + " was recorded twice");
    return;
  }
  if (!figure.min) figure.min = figure.value;
  if (!figure.max) figure.max = figure.value;
  if (!figure.seed) figure.seed = options_.seed;
  progress_.line("  %s = %.4g %s (%.4g to %.4g)", figure.name.c_str(), figure.value,
                 figure.unit.c_str(), *figure.min, *figure.max);
  figures_.push_back(std::move(figure));
}

void Figures::skip(std::string name, std::string reason) {
  if (!wants(name)) return;
  progress_.line("  %s skipped: %s", name.c_str(), reason.c_str());
  skipped_.push_back({std::move(name), std::move(reason)});
}

void Figures::wrong(std::string what) {
  progress_.line("WRONG: %s", what.c_str());
  wrong_.push_back(std::move(what));
}

void Figures::check(bool condition, const std::string& what) {
  if (!condition) wrong(what);
}

const Bar* Figures::bar_of(std::string_view name) const {
  const auto found =
      std::find_if(bars_.begin(), bars_.end(), [&](const Bar& bar) { return bar.matches(name); });
  return found == bars_.end() ? nullptr : &*found;
}

const Figure* Figures::find(std::string_view name) const {
  const auto found = std::find_if(figures_.begin(), figures_.end(),
                                  [&](const Figure& figure) { return figure.name == name; });
  return found == figures_.end() ? nullptr : &*found;
}

std::vector<std::string> Figures::missing() const {
  std::vector<std::string> names;
  for (const Bar& bar : bars_) {
    if (bar.only_in_full && !options_.full) continue;
    if (!selected(bar.name) && !(only_ && selected(bar.topic))) continue;
    const bool recorded = std::any_of(figures_.begin(), figures_.end(), [&](const Figure& figure) {
      return bar.matches(figure.name);
    });
    if (!recorded) names.emplace_back(bar.name);
  }
  return names;
}

}  // namespace weir::bench
