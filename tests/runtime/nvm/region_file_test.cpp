// SPDX-License-Identifier: Apache-2.0
// Creating and opening files that do not go as planned.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weir/runtime/error.hpp"
#include "weir/runtime/persistent_region.hpp"

#include "support/child_process.hpp"
#include "support/temporary_directory.hpp"

namespace weir::test {
namespace {

using namespace weir::literals;
using testing::HasSubstr;
namespace fs = std::filesystem;

class RegionFile : public testing::Test {
 protected:
  /// The message of the Expected error that `action` throws.
  template <class Expected, class Action>
  static std::string message(Action&& action) {
    try {
      action();
    } catch (const Expected& error) {
      return error.what();
    } catch (const std::exception& error) {
      return std::string("(another error) ") + error.what();
    }
    return "(no error)";
  }

  void write_file(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

  TemporaryDirectory directory;
  fs::path path = directory / "a.weir";
  fs::path temporary = directory / "a.weir.creating";
};

// --- create --------------------------------------------------------------------------------------

TEST_F(RegionFile, TakesItsNameOnlyWhenPublished) {
  auto region = create_mmap_region(path, 4_KiB);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(temporary));
  region->publish();
  EXPECT_TRUE(fs::exists(path));
  EXPECT_FALSE(fs::exists(temporary));
  region.reset();
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(RegionFile, LeavesNothingWhenNotPublished) {
  create_mmap_region(path, 4_KiB).reset();
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST_F(RegionFile, ReservesItsSpace) {
  const auto region = create_mmap_region(path, 1_MiB);
  struct stat info {};
  ASSERT_EQ(stat(temporary.c_str(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, 1 << 20);
}

TEST_F(RegionFile, PublishFindsTheFileAfterAChangeOfDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  const auto region = create_mmap_region("a.weir", 4_KiB);
  fs::current_path(before);
  region->publish();
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(RegionFile, CreateRefusesWhatExists) {
  const auto create = [&] { create_mmap_region(path, 4_KiB); };
  write_file(path, "precious");
  EXPECT_THAT(message<InvalidArgument>(create), HasSubstr("exists already (a file)"));
  EXPECT_EQ(fs::file_size(path), 8u);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_THAT(message<InvalidArgument>(create), HasSubstr("exists already (a directory)"));
  fs::remove(path);
  fs::create_symlink("nowhere", path);
  EXPECT_THAT(message<InvalidArgument>(create), HasSubstr("exists already (a symbolic link)"));
}

TEST_F(RegionFile, PublishDoesNotReplaceAFileThatAppearedMeanwhile) {
  const auto region = create_mmap_region(path, 4_KiB);
  write_file(path, "precious");
  EXPECT_THAT(message<IoError>([&] { region->publish(); }), HasSubstr("meanwhile"));
  EXPECT_EQ(fs::file_size(path), 8u);
}

TEST_F(RegionFile, CreateRefusesBadArguments) {
  EXPECT_THAT(message<InvalidArgument>([&] { create_mmap_region(path, Bytes{0}); }),
              HasSubstr("0 bytes"));
  EXPECT_THAT(message<InvalidArgument>([&] { create_mmap_region("", 4_KiB); }),
              HasSubstr("path is empty"));
  EXPECT_THAT(message<InvalidArgument>([&] { create_mmap_region(path, Bytes{~0ull}); }),
              HasSubstr("18446744073709551615"));
  EXPECT_THAT(message<IoError>([&] { create_mmap_region(directory / "none" / "a", 4_KiB); }),
              HasSubstr("directory must exist"));
  EXPECT_THAT(
      message<IoError>([&] { create_mmap_region(directory / std::string(250, 'x'), 4_KiB); }),
      HasSubstr("255 bytes"));
}

TEST_F(RegionFile, CreateReplacesAStaleTemporaryFile) {
  write_file(temporary, "left by a process that died");
  auto region = create_mmap_region(path, 4_KiB);
  EXPECT_EQ(region->bytes()[0], std::byte{0});
  region->publish();
  EXPECT_EQ(fs::file_size(path), 4096u);
}

TEST_F(RegionFile, ReplacingAStaleTemporaryFileKeepsItsOtherName) {
  // What a crash leaves on a file system where publish() has to link and unlink.
  write_file(directory / "published", "precious");
  fs::create_hard_link(directory / "published", temporary);
  create_mmap_region(path, 4_KiB)->publish();
  EXPECT_EQ(fs::file_size(directory / "published"), 8u);
}

TEST_F(RegionFile, CreateDoesNotFollowALinkInPlaceOfItsTemporaryFile) {
  write_file(directory / "precious", "precious");
  fs::create_symlink(directory / "precious", temporary);
  EXPECT_THROW(create_mmap_region(path, 4_KiB), IoError);
  EXPECT_EQ(fs::file_size(directory / "precious"), 8u);
}

TEST_F(RegionFile, CreateIsBusyWhileAnotherCreates) {
  const auto region = create_mmap_region(path, 4_KiB);
  EXPECT_THAT(message<Busy>([&] { create_mmap_region(path, 4_KiB); }),
              HasSubstr("is being created"));
  region->publish();
}

TEST_F(RegionFile, KillDuringCreateLeavesNoFileAndNoObstacle) {
  ChildProcess child([&] {
    static std::unique_ptr<PersistentRegion> region = create_mmap_region(path, 4_KiB);
    region->bytes()[0] = std::byte{7};
  });
  ASSERT_TRUE(child.ready());
  EXPECT_THROW(create_mmap_region(path, 4_KiB), Busy);
  child.kill_now();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THAT(message<IoError>([&] { open_mmap_region(path); }),
              HasSubstr("creation has not finished"));
  const auto region = create_mmap_region(path, 8_KiB);
  EXPECT_EQ(region->bytes()[0], std::byte{0});
  region->publish();
}

TEST_F(RegionFile, KillAnywhereDuringCreateLeavesAWholeFileOrNone) {
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const auto region = create_mmap_region(path, 64_KiB);
      for (std::byte& byte : region->bytes()) byte = std::byte{1};
      region->publish();
      _exit(0);
    }
    for (int wait = 0; wait < 10 * round; ++wait) sched_yield();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (!fs::exists(path)) continue;
    {
      const auto region = open_mmap_region(path);
      const auto bytes = region->bytes();
      ASSERT_EQ(bytes.size(), 65536u);
      ASSERT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{1}), 65536);
    }
    fs::remove(path);
  }
  EXPECT_NO_THROW(create_mmap_region(path, 4_KiB)->publish());
}

TEST_F(RegionFile, NoSpaceIsReportedAtOnceAndLeavesNothing) {
  const fs::path mounted = directory / "tiny";
  fs::create_directory(mounted);
  if (mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "cannot mount a small tmpfs here (needs root)";
  const std::string error =
      message<OutOfSpace>([&] { create_mmap_region(mounted / "a.weir", 1_MiB); });
  const bool empty = fs::is_empty(mounted);
  const bool fits = create_mmap_region(mounted / "a.weir", 32_KiB) != nullptr;
  umount(mounted.c_str());
  EXPECT_THAT(error, HasSubstr("1 MiB"));
  EXPECT_THAT(error, HasSubstr("are free"));
  EXPECT_TRUE(empty);
  EXPECT_TRUE(fits);
}

TEST_F(RegionFile, FileSizeLimitIsOutOfSpace) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = message<OutOfSpace>([&] { create_mmap_region(path, 1_MiB); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(error, HasSubstr("ulimit -f"));
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST_F(RegionFile, AbsurdSizeIsOutOfSpace) {
  EXPECT_THROW(create_mmap_region(path, Bytes{1ull << 60}), OutOfSpace);
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST_F(RegionFile, ReadOnlyDirectoryIsAnIoError) {
  if (geteuid() == 0) {
    // Permissions do not bind root; a read-only mount does.
    const fs::path mounted = directory / "fixed";
    fs::create_directory(mounted);
    if (mount("tmpfs", mounted.c_str(), "tmpfs", MS_RDONLY, "size=64k") != 0)
      GTEST_SKIP() << "cannot mount a read-only tmpfs here";
    const std::string error =
        message<IoError>([&] { create_mmap_region(mounted / "a.weir", 4_KiB); });
    umount(mounted.c_str());
    EXPECT_THAT(error, HasSubstr("directory must be writable"));
  } else {
    fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
    const std::string error = message<IoError>([&] { create_mmap_region(path, 4_KiB); });
    fs::permissions(directory.path(), fs::perms::owner_all);
    EXPECT_THAT(error, HasSubstr("directory must be writable"));
  }
}

// --- open ----------------------------------------------------------------------------------------

TEST_F(RegionFile, OpenRefusesWhatIsNoRegion) {
  EXPECT_THAT(message<IoError>([&] { open_mmap_region(path); }), HasSubstr("No such file"));
  EXPECT_THAT(message<InvalidArgument>([&] { open_mmap_region(""); }), HasSubstr("path is empty"));
  for (const bool writable : {true, false})
    EXPECT_THAT(
        message<IoError>([&] { open_mmap_region(directory.path(), {.writable = writable}); }),
        HasSubstr("Is a directory"));
  write_file(path, "");
  EXPECT_THAT(message<CorruptData>([&] { open_mmap_region(path); }), HasSubstr("is empty"));
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (const bool writable : {true, false})
    EXPECT_THAT(message<Unsupported>([&] { open_mmap_region(path, {.writable = writable}); }),
                HasSubstr("regular file"));
  EXPECT_THROW(open_mmap_region(directory / std::string(300, 'x')), IoError);
}

TEST_F(RegionFile, OpenFollowsASymbolicLink) {
  write_file(directory / "real", "12345678");
  fs::create_symlink("real", path);
  EXPECT_EQ(open_mmap_region(path)->bytes().size(), 8u);
}

TEST_F(RegionFile, ReadOnlyFileOpensForReading) {
  write_file(path, "12345678");
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_EQ(open_mmap_region(path, {.writable = false})->bytes().size(), 8u);
  if (geteuid() != 0) {  // permissions do not bind root
    EXPECT_THAT(message<IoError>([&] { open_mmap_region(path); }), HasSubstr("open it read-only"));
  }
}

TEST_F(RegionFile, ReadOnlyMediumIsAnIoError) {
  const fs::path mounted = directory / "fixed";
  fs::create_directory(mounted);
  if (mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "cannot mount a tmpfs here (needs root)";
  create_mmap_region(mounted / "a.weir", 4_KiB)->publish();
  mount("", mounted.c_str(), "", MS_REMOUNT | MS_RDONLY, "size=64k");
  const std::string error = message<IoError>([&] { open_mmap_region(mounted / "a.weir"); });
  const std::size_t readable =
      open_mmap_region(mounted / "a.weir", {.writable = false})->bytes().size();
  umount(mounted.c_str());
  EXPECT_THAT(error, HasSubstr("open it read-only"));
  EXPECT_EQ(readable, 4096u);
}

TEST_F(RegionFile, StoreToARegionOpenedForReadingFaults) {
  create_mmap_region(path, 4_KiB)->publish();
  const auto region = open_mmap_region(path, {.writable = false});
  EXPECT_FALSE(region->writable());
  EXPECT_DEATH(region->bytes()[0] = std::byte{1}, "");
}

TEST_F(RegionFile, IsBusyWhileAnotherProcessHasIt) {
  create_mmap_region(path, 4_KiB)->publish();
  ChildProcess writer([&] { static auto region = open_mmap_region(path); });
  ASSERT_TRUE(writer.ready());
  EXPECT_THAT(message<Busy>([&] { open_mmap_region(path); }), HasSubstr("in use"));
  EXPECT_THAT(message<Busy>([&] { open_mmap_region(path, {.writable = false}); }),
              HasSubstr("open for writing"));
  writer.kill_now();  // the kernel releases the lock of the dead
  EXPECT_NE(open_mmap_region(path), nullptr);
}

TEST_F(RegionFile, ChildThatEndsReleasesNothingOfItsParent) {
  auto region = create_mmap_region(path, 4_KiB);
  const pid_t child = fork();
  if (child == 0) {
    region.reset();  // as a static object would be at exit
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(temporary));
  EXPECT_THROW(create_mmap_region(path, 4_KiB), Busy);
  region->publish();
}

TEST_F(RegionFile, KillKeepsWhatWasStored) {
  create_mmap_region(path, 4_KiB)->publish();
  ChildProcess child([&] {
    static auto region = open_mmap_region(path);
    region->bytes()[4095] = std::byte{9};
  });
  ASSERT_TRUE(child.ready());
  child.kill_now();
  EXPECT_EQ(open_mmap_region(path)->bytes()[4095], std::byte{9});
}

}  // namespace
}  // namespace weir::test
