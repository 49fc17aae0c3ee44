// SPDX-License-Identifier: Apache-2.0
// The options of `weir filter ...` and the functions that carry them out.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "weir/anifilter/filter.hpp"

#include "key_reader.hpp"

namespace weir::tool {

/// Options that every filter subcommand has.
struct CommonOptions {
  std::string path;
  bool json = false;
  bool quiet = false;
  std::size_t threads = 0;  ///< for the recovery scan; 0: all processors
};

struct CreateOptions : CommonOptions {
  std::string capacity;
  std::string size;
  std::string buckets;
  std::string max_load = "0.95";
  std::string layout = "5x12";
  std::string consistency = "relaxed";
  std::string durability = "process_crash";
  std::string seed = "0";
  bool force = false;
};

struct KeyOptions : CommonOptions {
  KeyInput input;
  std::string format = "lines";
  bool null_delimited = false;
  bool progress = false;
  std::string durability = "process_crash";  ///< add, remove
  std::string rejects;                       ///< add, remove
  bool invert = false;                       ///< query
  bool count = false;                        ///< query
};

int run_create(const CreateOptions& options);
int run_add(const KeyOptions& options);
int run_query(const KeyOptions& options);
int run_remove(const KeyOptions& options);
int run_stats(const CommonOptions& options);
int run_verify(const CommonOptions& options);

/// Opens the filter that is there. Throws IoError, with what to do, if there is none.
anifilter::Filter open_filter(const CommonOptions& options, bool writable,
                              Durability minimum = Durability::process_crash);

/// Parse an option's value; throw UsageError with all that is allowed, nearest first.
Durability parse_durability(const std::string& text);
KeyFormat parse_key_format(const std::string& text);

/// Throws UsageError: "--layout is '5x13'; allowed are 7x8, ... (did you mean 5x12?)".
[[noreturn]] void unknown_value(std::string_view option, const std::string& text,
                                const std::vector<std::string>& names);

/// "a process crash", "a power failure": what keys are safe from.
std::string safe_from(Durability durability);

void print_json(const nlohmann::ordered_json& value);

}  // namespace weir::tool
