// SPDX-License-Identifier: Apache-2.0
#include "key_output.hpp"

#include <cerrno>
#include <filesystem>

#include "weir/runtime/error.hpp"

#include "program.hpp"

namespace weir::tool {

KeyOutput::KeyOutput(const std::string& file, const KeyOptions& options)
    : name_(file == "-" ? "standard output" : file),
      delimiter_(options.input.delimiter),
      delimited_(options.input.format != KeyFormat::binary) {
  if (file.empty()) return;
  if (file == "-") {
    file_ = stdout;
    return;
  }
  const auto same = [&file](const std::string& other) {
    std::error_code ignored;  // a file that is not there is nobody's input
    return std::filesystem::equivalent(file, other, ignored);
  };
  if (same(options.path)) throw UsageError(file + " is the filter; choose another file");
  for (const auto& input : options.input.files)
    if (same(input)) throw UsageError(file + " is also read; choose another file");
  file_ = std::fopen(file.c_str(), "we");
  if (file_ == nullptr) throw_system_error("cannot write keys", file, errno);
}

KeyOutput::~KeyOutput() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void KeyOutput::write(std::string_view key) {
  if (file_ == nullptr) return;
  std::fwrite(key.data(), 1, key.size(), file_);  // flush() reports what fails here
  if (delimited_) std::putc(delimiter_, file_);
}

void KeyOutput::flush() {
  if (file_ == nullptr) return;
  const bool failed = std::fflush(file_) != 0 || std::ferror(file_) != 0;
  if (failed) throw_system_error("cannot write keys", name_, errno);
}

}  // namespace weir::tool
