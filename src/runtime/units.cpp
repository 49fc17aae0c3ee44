// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/units.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace weir {

std::string to_string(Bytes bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                      "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && (bytes.value >> (10 * (unit + 1))) != 0) ++unit;

  // Integers only: no locale, and no rounding surprise near 2^64.
  const std::uint64_t size = std::uint64_t{1} << (10 * unit);
  std::uint64_t whole = bytes.value / size;
  std::uint64_t tenths = (bytes.value % size * 10 + size / 2) / size;
  if (tenths == 10) {
    tenths = 0;
    ++whole;
  }
  if (whole == 1024 && unit + 1 < kUnits.size()) {  // 1023.96 KiB reads 1 MiB
    whole = 1;
    ++unit;
  }
  std::string text = std::to_string(whole);
  if (tenths != 0) text += "." + std::to_string(tenths);
  return text.append(" ").append(kUnits[unit]);
}

}  // namespace weir
