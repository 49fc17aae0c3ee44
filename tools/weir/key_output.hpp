// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

#include "filter_commands.hpp"

namespace weir::tool {

/// Writes keys the way they are read, to a file or ("-") standard output. Without a file name it
/// swallows them.
class KeyOutput {
 public:
  /// Throws IoError, and UsageError for a file that is also an input or the filter.
  KeyOutput(const std::string& file, const KeyOptions& options);
  ~KeyOutput();
  KeyOutput(const KeyOutput&) = delete;
  KeyOutput& operator=(const KeyOutput&) = delete;

  void write(std::string_view key);
  /// Hands over what is buffered; throws IoError if anything could not be written.
  void flush();

 private:
  std::string name_;
  std::FILE* file_ = nullptr;
  char delimiter_ = '\n';
  bool delimited_ = true;
};

}  // namespace weir::tool
