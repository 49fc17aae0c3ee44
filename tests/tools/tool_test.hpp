// SPDX-License-Identifier: Apache-2.0
// Runs the weir program in a shell and in a folder of its own.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weir::tool {

struct ShellResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// A folder that is removed at the end; commands run in it, with `weir` on their PATH and nothing
/// on standard input.
class ToolTest : public ::testing::Test {
 protected:
  ToolTest();
  ~ToolTest() override;

  [[nodiscard]] ShellResult shell(const std::string& command) const;
  /// shell() of a command that is expected to succeed.
  std::string ok(const std::string& command) const;
  [[nodiscard]] nlohmann::json json(const std::string& command, int exit_code = 0) const;

  [[nodiscard]] std::string path(std::string_view name) const { return (folder_ / name).string(); }
  void write(std::string_view name, std::string_view bytes) const;
  [[nodiscard]] std::string read(std::string_view name) const;
  void write_keys(std::string_view name, const std::vector<std::uint64_t>& keys) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace weir::tool
