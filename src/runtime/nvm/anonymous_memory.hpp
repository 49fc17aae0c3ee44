// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

#include "weir/runtime/units.hpp"

namespace weir::detail {

/// Zeroed private memory from the kernel; aligned to 2 MiB if it is as long, else to a page.
class AnonymousMemory {
 public:
  /// Throws InvalidArgument (size 0) or OutOfSpace. `huge_pages` asks for 2 MiB pages.
  AnonymousMemory(Bytes size, bool huge_pages);
  ~AnonymousMemory();
  AnonymousMemory(const AnonymousMemory&) = delete;
  AnonymousMemory& operator=(const AnonymousMemory&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace weir::detail
