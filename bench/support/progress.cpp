// SPDX-License-Identifier: Apache-2.0
#include "support/progress.hpp"

#include <cstdarg>
#include <cstddef>

#include "support/timing.hpp"

namespace weir::bench {
namespace {

[[gnu::format(printf, 1, 0)]] std::string format_list(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string result(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  if (length > 0) std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  return result;
}

}  // namespace

std::string text(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::string result = format_list(format, arguments);
  va_end(arguments);
  return result;
}

Progress::Progress() : Progress(stderr) {}

Progress::Progress(std::FILE* file) : file_(file), start_(wall_seconds()) {}

void Progress::line(const char* format, ...) {
  if (file_ == nullptr) return;
  std::va_list arguments;
  va_start(arguments, format);
  const std::string message = format_list(format, arguments);
  va_end(arguments);
  std::fprintf(file_, "[%6.1f s] %s\n", seconds(), message.c_str());
  std::fflush(file_);
}

double Progress::seconds() const { return wall_seconds() - start_; }

}  // namespace weir::bench
