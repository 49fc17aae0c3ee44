// SPDX-License-Identifier: Apache-2.0
#include "tool_test.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <stdlib.h>
#include <sys/wait.h>

namespace weir::tool {

ToolTest::ToolTest() {
  std::string pattern = ::testing::TempDir() + "weir_tool_XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
  folder_ = pattern;
}

ToolTest::~ToolTest() {
  std::error_code ignored;  // a leftover in the temporary folder fails no test
  std::filesystem::remove_all(folder_, ignored);
}

ShellResult ToolTest::shell(const std::string& command) const {
  const auto tool_folder = std::filesystem::path(WEIR_TOOL_PATH).parent_path().string();
  // The shell reads the command from a file, so that it needs no quoting.
  write(".command", command + "\n");
  const std::string line = "cd '" + folder_.string() + "' && PATH='" + tool_folder +
                           "':\"$PATH\" bash .command </dev/null 2>.stderr";
  ShellResult result;
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
    result.out.append(part.data(), n);
  const int status = ::pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.err = read(".stderr");
  return result;
}

std::string ToolTest::ok(const std::string& command) const {
  const ShellResult result = shell(command);
  EXPECT_EQ(result.exit_code, 0) << command << '\n' << result.err;
  return result.out;
}

nlohmann::json ToolTest::json(const std::string& command, int exit_code) const {
  const ShellResult result = shell(command);
  EXPECT_EQ(result.exit_code, exit_code) << command << '\n' << result.err;
  const auto parsed = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << command << '\n' << result.out;
  return parsed;
}

void ToolTest::write(std::string_view name, std::string_view bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
}

std::string ToolTest::read(std::string_view name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void ToolTest::write_keys(std::string_view name, const std::vector<std::uint64_t>& keys) const {
  std::string bytes(keys.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), keys.data(), bytes.size());  // x86 is little endian
  write(name, bytes);
}

}  // namespace weir::tool
