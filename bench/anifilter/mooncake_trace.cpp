// SPDX-License-Identifier: Apache-2.0
#include "anifilter/mooncake_trace.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "weir/runtime/error.hpp"

namespace weir::anifilter::trials {
namespace {

constexpr int kMostDepth = 32;

// One line of JSON, read left to right.
class Line {
 public:
  Line(std::string_view text, const std::string& name, std::size_t number)
      : text_(text), name_(name), number_(number) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw CorruptData(name_ + ", line " + std::to_string(number_) + ", column " +
                      std::to_string(at_ + 1) + ": " + what +
                      "; expected {\"timestamp\": .., \"input_length\": .., \"output_length\": .., "
                      "\"hash_ids\": [..]}");
  }

  MooncakeRequest request() {
    MooncakeRequest request;
    bool has[4] = {};
    expect('{');
    for (bool first = true; !accept('}'); first = false) {
      if (!first) expect(',');
      const std::string_view key = string();
      expect(':');
      if (key == "timestamp") {
        request.timestamp = once(has[0], key).number();
      } else if (key == "input_length") {
        request.input_length = once(has[1], key).number();
      } else if (key == "output_length") {
        request.output_length = once(has[2], key).number();
      } else if (key == "hash_ids") {
        once(has[3], key);
        expect('[');
        for (bool first_id = true; !accept(']'); first_id = false) {
          if (!first_id) expect(',');
          request.blocks.push_back(number());
        }
      } else {
        skip_value(0);
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("text after the object");
    if (!has[0] || !has[1] || !has[2] || !has[3]) fail("a member is missing");
    return request;
  }

 private:
  Line& once(bool& seen, std::string_view key) {
    if (seen) fail("\"" + std::string(key) + "\" is there twice");
    seen = true;
    return *this;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "' is missing");
  }
  std::string_view string() {
    expect('"');
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) fail("a string does not end");
    return text_.substr(begin, at_++ - begin);
  }
  std::uint64_t number() {
    skip_space();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > (~std::uint64_t{0} - digit) / 10) fail("a number does not fit 64 bits");
      value = value * 10 + digit;
    }
    if (at_ == begin) fail("an unsigned number is missing");
    if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E'))
      fail("a whole number is wanted");
    return value;
  }
  void skip_value(int depth) {
    if (depth > kMostDepth) fail("nested too deeply");
    skip_space();
    if (at_ >= text_.size()) fail("a value is missing");
    const char c = text_[at_];
    if (c == '"') {
      string();
    } else if (c == '{' || c == '[') {
      const char end = c == '{' ? '}' : ']';
      ++at_;
      for (bool first = true; !accept(end); first = false) {
        if (!first) expect(',');
        if (c == '{') {
          string();
          expect(':');
        }
        skip_value(depth + 1);
      }
    } else {
      const std::size_t begin = at_;
      while (at_ < text_.size() &&
             std::string_view(",]} \t\r").find(text_[at_]) == std::string_view::npos)
        ++at_;
      if (at_ == begin) fail("a value is missing");
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t number_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<MooncakeRequest> read_mooncake_trace(std::istream& in, const std::string& name) {
  std::vector<MooncakeRequest> requests;
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    requests.push_back(Line(text, name, number).request());
  }
  if (in.bad())
    throw IoError(name + ": reading failed after " + std::to_string(requests.size()) + " requests");
  return requests;
}

std::vector<MooncakeRequest> read_mooncake_trace(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw_system_error("cannot open the trace", path.string(), errno);
  return read_mooncake_trace(in, path.string());
}

std::filesystem::path find_mooncake_trace(const std::filesystem::path& hint) {
  namespace fs = std::filesystem;
  const fs::path in_data = "mooncake/synthetic_trace.jsonl";
  std::string tried;
  const auto found = [&](const fs::path& path) {
    std::error_code ignored;  // not there is the same as not readable
    if (fs::is_regular_file(path, ignored)) return true;
    tried += (tried.empty() ? "" : ", ") + path.string();
    return false;
  };
  if (!hint.empty()) {
    for (const fs::path& path : {hint, hint / in_data, hint / in_data.filename()})
      if (found(path)) return path;
    throw IoError("the Mooncake trace is not at " + tried);
  }
  if (const char* data = std::getenv("WEIR_DATA"); data != nullptr && *data != '\0')
    if (const fs::path path = fs::path(data) / in_data; found(path)) return path;
#ifdef WEIR_SOURCE_DIR
  if (const fs::path path = fs::path(WEIR_SOURCE_DIR) / "data" / in_data; found(path)) return path;
#endif
  std::error_code error;
  for (fs::path directory = fs::current_path(error); !error; directory = directory.parent_path()) {
    if (const fs::path path = directory / "data" / in_data; found(path)) return path;
    if (directory == directory.parent_path()) break;
  }
  throw IoError("the Mooncake trace was not found; tried " + tried +
                "; give its place with --data or WEIR_DATA");
}

}  // namespace weir::anifilter::trials
