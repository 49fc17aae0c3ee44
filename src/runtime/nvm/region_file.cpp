// SPDX-License-Identifier: Apache-2.0
#include "region_file.hpp"

#include <cerrno>
#include <cstdio>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "weir/runtime/error.hpp"

namespace weir::detail {
namespace {

constexpr const char* kSuffix = ".creating";
constexpr int kCreateAttempts = 100;

bool same_file(int descriptor, const std::string& path) {
  struct stat open {
  }, named{};
  return fstat(descriptor, &open) == 0 && lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

bool try_lock(int descriptor, int operation) {
  int result;
  do result = flock(descriptor, operation | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

const char* kind_of(const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return "a directory";
  if (S_ISLNK(info.st_mode)) return "a symbolic link";
  if (S_ISREG(info.st_mode)) return "a file";
  return "a device, pipe or socket";
}

[[noreturn]] void throw_create_error(const std::string& path, int error) {
  std::string what = "cannot create the region's file";
  if (error == ENOENT || error == ENOTDIR)
    what += " (its directory must exist)";
  else if (error == EACCES || error == EROFS || error == EPERM)
    what += " (the directory must be writable)";
  else if (error == ENAMETOOLONG)
    what += " (a name has at most 255 bytes, of which \".creating\" takes 9 while it is made)";
  throw_system_error(what, path, error);
}

void reserve(int descriptor, const std::string& path, Bytes size) {
  struct statvfs info {};
  std::string free;
  // A tmpfs without a limit has 0 blocks.
  if (fstatvfs(descriptor, &info) == 0 && info.f_blocks > 0) {
    const Bytes available{info.f_bavail * info.f_frsize};
    free = " (" + to_string(available) + " are free)";
    // Asked first: a file system without fallocate is filled block by block until it is full.
    if (size > available)
      throw_system_error("cannot reserve " + to_string(size) + free + " for", path, ENOSPC);
  }
  int error;
  // Fails with ENOSPC now, where a sparse file would deliver SIGBUS on a later store.
  do error = posix_fallocate(descriptor, 0, static_cast<off_t>(size.value));
  while (error == EINTR);
  if (error == 0) return;
  if (error == EFBIG)
    throw OutOfSpace(path + ": a file of " + to_string(size) +
                     " is larger than the file system or the limit of this process (ulimit -f) "
                     "allows; ask for less");
  throw_system_error("cannot reserve " + to_string(size) + free + " for", path, error);
}

}  // namespace

RegionFile::RegionFile(RegionFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      writable_(other.writable_),
      device_(other.device_),
      published_(other.published_),
      name_durable_(other.name_durable_),
      owner_(other.owner_) {}

RegionFile::~RegionFile() {
  if (descriptor_ < 0) return;
  if (getpid() == owner_) {
    // Nothing to report to from here: what stays behind is a stale temporary file, which the next
    // create replaces.
    if (!published_ && same_file(descriptor_, temporary_)) unlink(temporary_.c_str());
    flock(descriptor_, LOCK_UN);
  }
  close(descriptor_);
}

RegionFile RegionFile::create(const std::filesystem::path& path, Bytes size) {
  WEIR_EXPECTS(!path.empty(), "create: the path is empty; name a file that does not exist yet");
  WEIR_EXPECTS(size.value > 0, path.string() + ": a region of 0 bytes; ask for at least 1");
  WEIR_EXPECTS(size.value <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()),
               path.string() + ": a region of " + std::to_string(size.value) +
                   " bytes; a file has at most 2^63-1");
  RegionFile file;
  // Absolute, so that publish() finds the file after a change of the working directory.
  file.path_ = std::filesystem::absolute(path).string();
  file.temporary_ = file.path_ + kSuffix;
  file.size_ = size;
  file.owner_ = getpid();
  struct stat info {};
  WEIR_EXPECTS(lstat(file.path_.c_str(), &info) != 0,
               file.path_ + " exists already (" + kind_of(info) +
                   "); open it, or remove it first, or choose another path");

  for (int attempt = 0; file.descriptor_ < 0; ++attempt) {
    const char* name = file.temporary_.c_str();
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    int descriptor = ::open(name, flags | O_CREAT | O_EXCL, 0666);
    const bool ours = descriptor >= 0;
    if (!ours && errno == EEXIST) descriptor = ::open(name, flags);
    if (descriptor < 0) {
      if (errno == ENOENT && attempt > 0 && attempt < kCreateAttempts) continue;
      throw_create_error(file.temporary_, errno);
    }
    const bool locked = try_lock(descriptor, LOCK_EX);
    const int lock_error = errno;
    if (locked && same_file(descriptor, file.temporary_)) {
      if (ours) {
        file.descriptor_ = descriptor;
        file.published_ = file.name_durable_ = false;
        break;
      }
      // Its maker is dead. Removed rather than reused: it may have a second link (see publish()).
      unlink(name);
    }
    close(descriptor);
    if (locked || (lock_error == EWOULDBLOCK && ours && attempt < kCreateAttempts)) continue;
    if (lock_error != EWOULDBLOCK) throw_system_error("cannot lock", file.temporary_, lock_error);
    throw Busy(file.path_ + " is being created by another process, which holds " + file.temporary_ +
               "; wait until it has finished, or choose another path");
  }
  reserve(file.descriptor_, file.path_, size);
  return file;
}

RegionFile RegionFile::open(const std::filesystem::path& path, bool writable) {
  WEIR_EXPECTS(!path.empty(), "open: the path is empty; name an existing file");
  RegionFile file;
  file.path_ = std::filesystem::absolute(path).string();
  file.writable_ = writable;
  file.owner_ = getpid();
  // O_NONBLOCK: a named pipe must not hang us before it is refused below.
  file.descriptor_ =
      ::open(file.path_.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor_ < 0) {
    const int error = errno;
    std::string what = "cannot open";
    if (error == EACCES || error == EROFS || error == EPERM)
      what += writable ? " for writing (open it read-only, or change the permissions)"
                       : " for reading (change the permissions)";
    else if (error == ENOENT && ::access((file.path_ + kSuffix).c_str(), F_OK) == 0)
      what += " (its creation has not finished, or was interrupted: create it again)";
    else if (error == EISDIR)
      what += " (name a file in it)";
    throw_system_error(what, file.path_, error);
  }
  struct stat info {};
  if (fstat(file.descriptor_, &info) != 0) throw_system_error("cannot stat", file.path_, errno);
  if (S_ISDIR(info.st_mode))
    throw_system_error("cannot open (name a file in it)", file.path_, EISDIR);
  file.device_ = S_ISCHR(info.st_mode) && file.path_.starts_with("/dev/dax");
  if (!S_ISREG(info.st_mode) && !file.device_)
    throw Unsupported(file.path_ + " is " + kind_of(info) + "; a region needs a regular file");
  if (!try_lock(file.descriptor_, writable ? LOCK_EX : LOCK_SH)) {
    if (errno != EWOULDBLOCK) throw_system_error("cannot lock", file.path_, errno);
    throw Busy(file.path_ +
               (writable ? " is in use: somebody has it open; writing needs it alone"
                         : " is in use: somebody has it open for writing") +
               "; close it there and try again (a file has one writer or any number of readers)");
  }
  if (!file.device_ && info.st_size == 0)
    throw CorruptData(file.path_ +
                      ": the file is empty (0 bytes), so nothing was ever stored in it; "
                      "remove it and create the region again");
  file.size_ = {static_cast<std::uint64_t>(info.st_size)};
  return file;
}

void RegionFile::publish(bool durable) {
  if (!published_) {
    publish_name(durable);
    published_ = true;
  }
  if (!durable || name_durable_) return;
  const std::string directory = std::filesystem::path(path_).parent_path().string();
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  if (!synced) throw_system_error("cannot sync the directory", directory, error);
  name_durable_ = true;
}

void RegionFile::publish_name(bool durable) const {
  // Content and size before the name, so that no power failure shows a name without them.
  if (durable && fsync(descriptor_) != 0) throw_system_error("cannot sync", temporary_, errno);
  int result = renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
  if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
    // The file system cannot rename without replacing; link() refuses an existing name as well. A
    // crash between the two calls leaves a second, stale name.
    result = link(temporary_.c_str(), path_.c_str());
    if (result == 0) unlink(temporary_.c_str());
  }
  if (result != 0)
    throw_system_error(errno == EEXIST ? "cannot publish: somebody else made this file meanwhile"
                                       : "cannot publish the region's file",
                       path_, errno);
}

}  // namespace weir::detail
