// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace weir::test {

/// A new, empty directory that is removed with all that is in it. `parent` empty: where temporary
/// files belong (TMPDIR).
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(std::filesystem::path parent = {}) {
    if (parent.empty()) parent = std::filesystem::temp_directory_path();
    std::string name = parent / "weir-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a temporary directory in " + parent.string());
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code error;  // what is left behind harms no other test
    std::filesystem::remove_all(path_, error);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace weir::test
