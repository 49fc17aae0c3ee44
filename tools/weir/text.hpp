// SPDX-License-Identifier: Apache-2.0
// Numbers and keys, read from and written for people.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::tool {

/// "10M", "1.5G", "64Ki", "1e9": K M G T are powers of 1000, Ki Mi Gi Ti of 1024; a B may follow.
/// Throws UsageError that names `option`.
std::uint64_t parse_count(std::string_view option, std::string_view text);

/// "0.95" or "95%". Throws UsageError that names `option`.
double parse_fraction(std::string_view option, std::string_view text);

/// A whole decimal number, or a hexadecimal one after 0x, below 2^64.
std::optional<std::uint64_t> parse_integer(std::string_view text);

/// 1234567 -> "1,234,567".
std::string with_commas(std::uint64_t n);
/// 12345678 -> "12.3 M": for progress, where width matters.
std::string short_count(double n);
/// 0.00182 -> "0.182 %".
std::string percent(double fraction);
/// A key for a message: quoted, unprintable bytes escaped, cut to a readable length.
std::string in_quotes(std::string_view key);
/// "1 key", "2 keys".
std::string keys(std::uint64_t n);

}  // namespace weir::tool
