// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "program.hpp"

namespace weir::tool {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
};
constexpr std::array<Suffix, 9> kSuffixes{{{"", 1.0},
                                           {"K", 1e3},
                                           {"M", 1e6},
                                           {"G", 1e9},
                                           {"T", 1e12},
                                           {"Ki", 0x1p10},
                                           {"Mi", 0x1p20},
                                           {"Gi", 0x1p30},
                                           {"Ti", 0x1p40}}};

/// The number at the start of `text` and what follows it.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  return std::pair{value, std::string_view(rest, static_cast<std::size_t>(end - rest))};
}

}  // namespace

std::uint64_t parse_count(std::string_view option, std::string_view text) {
  if (const auto whole = parse_integer(text)) return *whole;  // exact above 2^53 too
  if (const auto number = leading_number(text)) {
    std::string_view suffix = number->second;
    if (!suffix.empty() && (suffix.back() == 'B' || suffix.back() == 'b')) suffix.remove_suffix(1);
    for (const auto& known : kSuffixes) {
      const bool same = suffix == known.name || (suffix.size() == 1 && known.name.size() == 1 &&
                                                 (suffix[0] ^ 0x20) == known.name[0]);
      if (!same) continue;
      const double value = std::nearbyint(number->first * known.factor);
      if (value >= 0x1p63) break;
      return static_cast<std::uint64_t>(value);
    }
  }
  throw UsageError(fmt::format(
      "{} is '{}'; allowed is a number, alone or with K, M, G, T (powers of 1000) or Ki, Mi, Gi, "
      "Ti (powers of 1024), such as 10M or 1.5Gi",
      option, text));
}

double parse_fraction(std::string_view option, std::string_view text) {
  if (const auto number = leading_number(text)) {
    if (number->second.empty()) return number->first;
    if (number->second == "%" || number->second == " %") return number->first / 100;
  }
  throw UsageError(
      fmt::format("{} is '{}'; allowed is a fraction such as 0.95 or 95%", option, text));
}

std::optional<std::uint64_t> parse_integer(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::string with_commas(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}

std::string short_count(double n) {
  constexpr std::array<std::string_view, 5> kUnits{"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (n >= 999.5 && unit + 1 < kUnits.size()) {
    n /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", n, unit == 0 || n >= 99.95 ? 0 : (n >= 9.995 ? 1 : 2),
                     kUnits[unit]);
}

std::string percent(double fraction) {
  const double value = fraction * 100;
  return value >= 1 || value == 0 ? fmt::format("{:.1f} %", value) : fmt::format("{:.3g} %", value);
}

std::string in_quotes(std::string_view key) {
  constexpr std::size_t kLongest = 60;
  std::string text = "'";
  for (const char c : key.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  text += '\'';
  if (key.size() > kLongest) text += fmt::format("... ({} bytes)", key.size());
  return text;
}

std::string keys(std::uint64_t n) { return n == 1 ? "1 key" : with_commas(n) + " keys"; }

}  // namespace weir::tool
