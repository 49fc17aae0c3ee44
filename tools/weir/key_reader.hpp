// SPDX-License-Identifier: Apache-2.0
// Keys from files, standard input or the command line, in batches and in constant memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tool {

/// How a key is written. Filters do not record it: use one format for one filter.
enum class KeyFormat {
  lines,   ///< the bytes of a line, without its delimiter
  u64,     ///< a line with a decimal or 0x-hexadecimal number below 2^64
  binary,  ///< 8 bytes, little endian
};

struct KeyInput {
  std::vector<std::string> files;      ///< "-" is standard input; none and no `keys`: also
  std::vector<std::string> arguments;  ///< keys from the command line, read before the files
  KeyFormat format = KeyFormat::lines;
  char delimiter = '\n';
  bool skip_bad = false;  ///< counts malformed keys instead of stopping at the first
};

inline constexpr std::size_t kBatchKeys = 1024;

/// Some keys in input order; the views last until the next read.
struct KeyBatch {
  std::vector<std::string_view> text;  ///< as read, without the delimiter; binary: the 8 bytes
  std::vector<std::uint64_t> values;   ///< u64 and binary only
  [[nodiscard]] std::size_t size() const { return text.size(); }
};

enum class ReadStatus {
  keys,         ///< the batch holds at least one key
  end,          ///< no more input
  malformed,    ///< the next key is not one: see error(); nothing after it is read
  interrupted,  ///< SIGINT or SIGTERM
};

class KeyReader {
 public:
  /// Throws IoError for a file that is not there, UsageError for input that cannot hold keys.
  explicit KeyReader(KeyInput input);
  ~KeyReader();
  KeyReader(const KeyReader&) = delete;
  KeyReader& operator=(const KeyReader&) = delete;

  /// Fills `batch` with up to kBatchKeys keys: those that are there, without waiting for more.
  /// Throws IoError when reading fails.
  ReadStatus next(KeyBatch& batch);

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::uint64_t bad_keys() const { return bad_keys_; }
  /// Where the last key of the last batch ended: "words.txt, line 12".
  [[nodiscard]] std::string position() const;
  /// The part of all input that was read; nothing if some of it has no known size.
  [[nodiscard]] std::optional<double> fraction() const;
  /// The standard input is read and is a terminal, so somebody may have to be told.
  [[nodiscard]] bool reads_terminal() const { return reads_terminal_; }

 private:
  void check_inputs();
  bool open_next();
  bool fill();
  void parse(KeyBatch& batch);
  void parse_lines(KeyBatch& batch);
  void parse_binary(KeyBatch& batch);
  void take_line(std::string_view line, KeyBatch& batch);
  void bad(const std::string& seen);
  [[nodiscard]] std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }

  KeyInput input_;
  std::size_t next_source_ = 0;
  std::string name_;
  int fd_ = -1;
  bool at_end_ = true;  ///< of the open source; what is buffered may still hold keys
  char delimiter_ = '\n';
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool skipping_ = false;         ///< inside a line that is too long
  std::uint64_t ordinal_ = 0;     ///< lines, or binary keys, consumed of this source
  std::uint64_t bytes_read_ = 0;  ///< of all files
  std::uint64_t bytes_total_ = 0;
  bool sized_ = true;
  bool reads_terminal_ = false;
  std::uint64_t bad_keys_ = 0;
  std::string error_;
};

}  // namespace weir::tool
