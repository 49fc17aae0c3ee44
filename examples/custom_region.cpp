// SPDX-License-Identifier: Apache-2.0
// A kind of persistent memory of your own, and a structure on it that survives a crash anywhere.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "weir/runtime/crash_explorer.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/persistent_access.hpp"

using namespace weir::literals;

// [region]
// Memory with a copy in a file: a fence writes the lines' pages there, for file systems
// whose files cannot be mapped.
class MirroredRegion final : public weir::PersistentRegion {
 public:
  MirroredRegion(const std::filesystem::path& path, weir::Bytes size)
      : memory_(weir::make_memory_region(size)), path_(path) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) weir::throw_system_error("cannot open the mirror", path, errno);
    if (pread(file_, bytes().data(), bytes().size(), 0) < 0)
      weir::throw_system_error("cannot read the mirror", path, errno);
  }
  ~MirroredRegion() override { close(file_); }

  std::span<std::byte> bytes() noexcept override { return memory_->bytes(); }
  // The truth: nothing is durable before a fence has called sync(), and everything flushed is then.
  weir::Durability durability() const noexcept override {
    return weir::Durability::power_fail_msync;
  }
  weir::FlushInstruction flush_instruction() const noexcept override {
    return weir::FlushInstruction::msync;
  }
  std::string name() const override { return "mirror " + path_.string(); }

  void sync(std::span<const std::byte> range) override {
    const auto offset = static_cast<off_t>(range.data() - bytes().data());
    const auto written = pwrite(file_, range.data(), range.size(), offset);
    if (written != static_cast<ssize_t>(range.size()) || fdatasync(file_) != 0)
      weir::throw_system_error("cannot write the mirror", path_, errno);
  }

 private:
  std::unique_ptr<weir::PersistentRegion> memory_;
  std::filesystem::path path_;
  int file_;
};
// [region]

// [journal]
// Numbers in the order in which they came: the count in line 0, then one line each.
template <class Access>
class Journal {
 public:
  explicit Journal(weir::PersistentRegion& region)
      : access_(region), words_(reinterpret_cast<weir::Word*>(region.bytes().data())) {}

  void append(weir::Word value) {
    const weir::Word n = size();
    access_.store(entry(n), value);
    access_.flush(entry(n));
    // Without this fence the count may be durable before the entry: fault 1 leaves it out.
    if (!access_.fault(1)) access_.fence();
    access_.store(words_, n + 1);  // the atomic 8 bytes that publish the entry
    access_.flush(words_);
    access_.fence();  // from here on the entry survives
  }
  weir::Word size() const { return access_.load(words_); }
  weir::Word at(weir::Word i) const { return access_.load(entry(i)); }

 private:
  weir::Word* entry(weir::Word i) const { return words_ + (i + 1) * weir::kWordsPerLine; }

  Access access_;
  weir::Word* words_;
};
// [journal]

// [explore]
// Appends three numbers and cuts the power everywhere.
weir::CrashResult crash_everywhere(unsigned fault) {
  weir::RecordedRegion region(1_KiB);
  region.recorder()->set_fault(fault);
  Journal<weir::RecordingAccess> journal(region);
  for (std::size_t i = 0; i < 3; ++i) {
    region.recorder()->begin(i);
    journal.append(100 + i);
    region.recorder()->acknowledge(i);
  }
  return weir::CrashExplorer().explore(
      region, [](std::span<std::byte> image, const weir::CrashPoint& point) -> std::string {
        const auto copy = weir::make_view_region(image);
        const Journal<weir::FlushFreeAccess> recovered(*copy);
        for (std::size_t i = 0; i < point.operations.size(); ++i)
          if (point.operations[i] == weir::OperationState::acknowledged && recovered.size() <= i)
            return "entry " + std::to_string(i) + " is lost";
        for (std::size_t i = 0; i < recovered.size(); ++i)
          if (recovered.at(i) != 100 + i) return "entry " + std::to_string(i) + " is wrong";
        return "";
      });
}
// [explore]

int main() {
  const auto path =
      std::filesystem::temp_directory_path() / ("weir-custom-region-" + std::to_string(getpid()));
  for (int run = 0; run < 2; ++run) {  // the second finds what the first has stored
    MirroredRegion region(path, 64_KiB);
    Journal<weir::NativeAccess> journal(region);
    journal.append(42);
    std::printf("%s: %llu entries\n", region.name().c_str(),
                static_cast<unsigned long long>(journal.size()));
  }
  std::filesystem::remove(path);

  const weir::CrashResult right = crash_everywhere(0);
  std::printf("%llu crash states, %llu failures\n", static_cast<unsigned long long>(right.states),
              static_cast<unsigned long long>(right.failures));
  const weir::CrashResult wrong = crash_everywhere(1);
  std::printf("without the fence: %s\n", wrong.first_failure.c_str());
  return right.failures == 0 && wrong.failures == 1 ? 0 : 1;
}
