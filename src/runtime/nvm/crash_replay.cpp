// SPDX-License-Identifier: Apache-2.0
// The replay file, version 1: lines of text, then bytes.
//
//   weir-crash-replay 1
//   event <decimal>            events that had become visible
//   operations <count>         one letter each below: - not begun, i in flight, a acknowledged
//   message <bytes>
//   image <bytes>
//   checksum <16 hex digits>   XXH64 of what follows the empty line, seeded with that of what
//                              precedes this line
//   <empty line>
//   <operations>\n<message>\n<image>
#include "crash_replay.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "weir/runtime/error.hpp"
#include "weir/runtime/hash.hpp"

namespace weir {
namespace {

constexpr std::string_view kFirstLine = "weir-crash-replay 1\n";
constexpr std::string_view kLetters = "-ia";  // by OperationState

std::uint64_t checksum(std::string_view head, std::string_view body) {
  return hash_bytes(std::as_bytes(std::span(body)), hash_bytes(std::as_bytes(std::span(head))));
}

std::string hexadecimal(std::uint64_t value) {
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4)
    *digit = "0123456789abcdef"[value & 15];
  return digits;
}

/// Takes the file apart from its start; each step throws CorruptData with what was expected.
class Parser {
 public:
  Parser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw CorruptData(path_ + " is not a crash replay file: " + what + " at byte " +
                      std::to_string(position_) + " of " + std::to_string(text_.size()));
  }

  void expect(std::string_view token) {
    if (text_.substr(position_, token.size()) != token)
      fail("expected '" + std::string(token.substr(0, token.find('\n'))) + "'");
    position_ += token.size();
  }

  std::uint64_t number(int base = 10) {
    std::uint64_t value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value, base);
    if (error != std::errc{}) fail("expected a number");
    position_ += static_cast<std::size_t>(end - begin);
    expect("\n");
    return value;
  }

  std::uint64_t field(std::string_view name) {
    expect(name);
    expect(" ");
    return number();
  }

  std::string_view take(std::uint64_t size) {
    if (size > text_.size() - position_) fail("expected " + std::to_string(size) + " more bytes");
    const auto taken = text_.substr(position_, static_cast<std::size_t>(size));
    position_ += taken.size();
    return taken;
  }

  [[nodiscard]] std::string_view before() const { return text_.substr(0, position_); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(position_); }

 private:
  const std::string& path_;
  std::string_view text_;
  std::size_t position_ = 0;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_system_error("cannot open the replay file", path, errno);
  std::string text;
  char buffer[1 << 16];
  // A directory opens and then fails to be read, hence the check of bad() below.
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0)
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw_system_error("cannot read the replay file", path, errno != 0 ? errno : EIO);
  return text;
}

}  // namespace

void detail::save_crash_replay(const std::filesystem::path& path, const CrashReplay& replay,
                               std::span<const std::byte> image) {
  std::string head(kFirstLine);
  head += "event " + std::to_string(replay.event) + "\n";
  head += "operations " + std::to_string(replay.operations.size()) + "\n";
  head += "message " + std::to_string(replay.message.size()) + "\n";
  head += "image " + std::to_string(image.size()) + "\n";
  std::string body;
  for (const OperationState state : replay.operations)
    body += kLetters[static_cast<std::size_t>(state)];
  body += "\n" + replay.message + "\n";
  body.append(reinterpret_cast<const char*>(image.data()), image.size());

  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    throw_system_error("cannot make the replay directory", path.parent_path(), error.value());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << head << "checksum " << hexadecimal(checksum(head, body)) << "\n\n" << body << std::flush;
  if (!out) throw_system_error("cannot write the replay file", path.string(), errno);
}

CrashReplay load_crash_replay(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::string text = read_file(name);
  Parser parser(name, text);
  CrashReplay replay;
  parser.expect(kFirstLine);
  replay.event = parser.field("event");
  const std::uint64_t operations = parser.field("operations");
  const std::uint64_t message = parser.field("message");
  const std::uint64_t image = parser.field("image");
  const std::string_view head = parser.before();
  parser.expect("checksum ");
  const std::uint64_t expected = parser.number(16);
  parser.expect("\n");
  const std::uint64_t found = checksum(head, parser.rest());
  if (found != expected)
    parser.fail("checksum " + hexadecimal(found) + " differs from the stored " +
                hexadecimal(expected));
  for (const char letter : parser.take(operations)) {
    const std::size_t state = kLetters.find(letter);
    if (state == std::string_view::npos) parser.fail("an operation's state is none of \"-ia\"");
    replay.operations.push_back(static_cast<OperationState>(state));
  }
  parser.expect("\n");
  replay.message = parser.take(message);
  parser.expect("\n");
  const auto bytes = std::as_bytes(std::span(parser.take(image)));
  replay.image.assign(bytes.begin(), bytes.end());
  if (!parser.rest().empty()) parser.fail("bytes after the image");
  return replay;
}

}  // namespace weir
