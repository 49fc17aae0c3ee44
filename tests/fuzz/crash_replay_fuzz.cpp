// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: whatever the bytes, load_crash_replay() loads them or throws CorruptData.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/hash.hpp"

namespace {

void load(std::string_view bytes) {
  static const int file = memfd_create("replay", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  try {
    const weir::CrashReplay replay = weir::load_crash_replay(path);
    if (replay.image.size() + replay.message.size() + replay.operations.size() > bytes.size())
      std::abort();
  } catch (const weir::CorruptData&) {
  }
}

std::uint64_t hash(std::string_view text, std::uint64_t seed) {
  return weir::hash_bytes(std::as_bytes(std::span(text)), seed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  load(text);
  // No mutation finds the right checksum, and what lies behind it would never be reached.
  const std::size_t at = text.find("checksum ");
  if (at == std::string::npos || text.size() < at + 27) return 0;
  const std::string_view view = text;
  char digits[17];
  std::snprintf(
      digits, sizeof digits, "%016llx",
      static_cast<unsigned long long>(hash(view.substr(at + 27), hash(view.substr(0, at), 0))));
  text.replace(at + 9, 18, std::string(digits) + "\n\n");
  load(text);
  return 0;
}
