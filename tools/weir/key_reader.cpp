// SPDX-License-Identifier: Apache-2.0
#include "key_reader.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weir/runtime/error.hpp"

#include "interrupt.hpp"
#include "program.hpp"
#include "text.hpp"

namespace weir::tool {
namespace {

/// Large enough that a batch is rarely cut short at its end; also the longest key.
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

/// What a person may leave around a number: blanks, and the \r of a DOS file.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Endianness-free, and a plain load on x86.
std::uint64_t little_endian(const char* bytes) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

KeyReader::KeyReader(KeyInput input) : input_(std::move(input)), buffer_(kBufferBytes) {
  if (input_.files.empty() && input_.arguments.empty()) input_.files.emplace_back("-");
  if (!input_.arguments.empty() && input_.format == KeyFormat::binary)
    throw UsageError("--key takes text; allowed with --keys lines and --keys u64");
  check_inputs();
  if (!input_.arguments.empty()) {
    name_ = "--key";
    delimiter_ = '\0';  // the one byte that an argument cannot hold
    for (const auto& key : input_.arguments) {
      if (key.size() + 1 > buffer_.size() - end_)
        throw UsageError("the --key arguments are longer than 1 MiB; put the keys into a file");
      std::memcpy(buffer_.data() + end_, key.c_str(), key.size() + 1);
      end_ += key.size() + 1;
    }
  }
}

KeyReader::~KeyReader() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
}

/// Before the first key is read, so that a misspelt second file does not stop an add half-way.
void KeyReader::check_inputs() {
  for (const auto& file : input_.files) {
    struct stat info {};
    if (file == "-") {
      if (::fstat(STDIN_FILENO, &info) != 0)
        throw_system_error("cannot read keys", "standard input", errno);
      reads_terminal_ = ::isatty(STDIN_FILENO) != 0;
    } else {
      if (::stat(file.c_str(), &info) != 0) throw_system_error("cannot read keys", file, errno);
      if (S_ISDIR(info.st_mode)) throw UsageError(file + " is a directory; allowed is a file");
    }
    if (S_ISREG(info.st_mode)) {
      bytes_total_ += static_cast<std::uint64_t>(info.st_size);
    } else {
      sized_ = false;
    }
  }
}

bool KeyReader::open_next() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
  fd_ = -1;
  if (next_source_ == input_.files.size()) return false;
  const std::string& file = input_.files[next_source_++];
  if (file == "-") {
    fd_ = STDIN_FILENO;
    name_ = "standard input";
  } else {
    fd_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw_system_error("cannot read keys", file, errno);
    name_ = file;
  }
  delimiter_ = input_.delimiter;
  at_end_ = false;
  skipping_ = false;
  ordinal_ = 0;
  return true;
}

/// Moves what is left to the front and reads behind it; false if interrupted.
bool KeyReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (!wait_readable(fd_)) return false;
  ssize_t n = 0;
  do {
    n = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
  } while (n < 0 && errno == EINTR);
  if (n < 0) throw_system_error("cannot read keys", name_, errno);
  at_end_ = n == 0;
  end_ += static_cast<std::size_t>(n);
  bytes_read_ += static_cast<std::uint64_t>(n);
  return true;
}

ReadStatus KeyReader::next(KeyBatch& batch) {
  batch.text.clear();
  batch.values.clear();
  for (;;) {
    if (interrupted()) return ReadStatus::interrupted;
    if (error_.empty()) parse(batch);
    if (batch.size() > 0) return ReadStatus::keys;  // an error waits until these are dealt with
    if (!error_.empty()) return ReadStatus::malformed;
    if (at_end_) {
      if (!open_next()) return ReadStatus::end;
    } else if (!fill()) {
      return ReadStatus::interrupted;
    }
  }
}

void KeyReader::parse(KeyBatch& batch) {
  if (input_.format == KeyFormat::binary) {
    parse_binary(batch);
  } else {
    parse_lines(batch);
  }
}

void KeyReader::parse_binary(KeyBatch& batch) {
  while (batch.size() < kBatchKeys && end_ - begin_ >= 8) {
    const char* bytes = buffer_.data() + begin_;
    batch.values.push_back(little_endian(bytes));
    batch.text.emplace_back(bytes, 8);
    begin_ += 8;
    ++ordinal_;
  }
  if (batch.size() == 0 && at_end_ && begin_ < end_) {
    const std::size_t left = end_ - begin_;
    begin_ = end_;
    bad(fmt::format("{} byte{} after {}; allowed are multiples of 8 bytes, one 64-bit key each",
                    left, left == 1 ? "" : "s", keys(ordinal_)));
  }
}

void KeyReader::parse_lines(KeyBatch& batch) {
  while (batch.size() < kBatchKeys && begin_ < end_ && error_.empty()) {
    const std::string_view text = rest();
    const void* found = std::memchr(text.data(), delimiter_, text.size());
    std::size_t length = text.size();
    if (found != nullptr) {
      length = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    } else if (!at_end_) {
      if (begin_ > 0 || end_ < buffer_.size()) return;  // there is room to read the rest
      if (!skipping_) {
        ++ordinal_;
        bad(fmt::format("a key longer than {} bytes; allowed is less", buffer_.size()));
      }
      skipping_ = true;
      begin_ = end_;
      return;
    }
    begin_ += length + (found != nullptr ? 1 : 0);
    if (skipping_) {
      skipping_ = found == nullptr && !at_end_;
      continue;
    }
    ++ordinal_;
    take_line(text.substr(0, length), batch);
  }
}

void KeyReader::take_line(std::string_view line, KeyBatch& batch) {
  if (input_.format == KeyFormat::u64) {
    const std::string_view number = trimmed(line);
    const auto value = parse_integer(number);
    if (!value) {
      bad(fmt::format("{}; allowed is a decimal number or a hexadecimal one after 0x, below 2^64",
                      number.empty() ? "an empty line" : in_quotes(number)));
      return;
    }
    batch.values.push_back(*value);
    line = number;
  }
  batch.text.push_back(line);
}

void KeyReader::bad(const std::string& seen) {
  ++bad_keys_;
  if (!input_.skip_bad) error_ = fmt::format("{}: {}", position(), seen);
}

std::string KeyReader::position() const {
  if (fd_ < 0 && next_source_ == 0) return fmt::format("{} {}", name_, ordinal_);
  const bool binary = input_.format == KeyFormat::binary;
  const std::string_view unit = binary ? "key" : (delimiter_ == '\n' ? "line" : "item");
  return fmt::format("{}, {} {}", name_, unit, ordinal_);
}

std::optional<double> KeyReader::fraction() const {
  if (!sized_ || bytes_total_ == 0) return std::nullopt;
  const auto buffered = end_ - begin_;
  return static_cast<double>(bytes_read_ - (next_source_ == 0 ? 0 : buffered)) /
         static_cast<double>(bytes_total_);
}

}  // namespace weir::tool
