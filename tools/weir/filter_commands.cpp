// SPDX-License-Identifier: Apache-2.0
// `weir filter`: the command line. What each subcommand does is in the other filter_*.cpp.
#include "filter_commands.hpp"

#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "weir/runtime/error.hpp"
#include "weir/runtime/workers.hpp"

#include "program.hpp"

namespace weir::tool {
namespace {

/// Of add and remove; `no`: what exit code 1 means.
std::string exit_codes(std::string_view no) {
  return fmt::format(
      "Exit codes: 0 done, 1 {}, 2 wrong option or malformed key,\n"
      "3 cannot (file absent, busy, corrupt, no space), 130 interrupted.",
      no);
}

void add_common(CLI::App& command, CommonOptions& options) {
  command.add_option("FILTER", options.path, "The filter's file")->required();
  command.add_flag("--json", options.json, "Print the result as one JSON object");
  command.add_flag("-q,--quiet", options.quiet, "Print nothing but errors");
}

void add_threads(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "Threads for the scan on opening (default: all processors)")
      ->option_text("N");
}

void add_keys(CLI::App& command, KeyOptions& options) {
  command.add_option("KEYS", options.input.files,
                     "Files with keys; '-' or none reads standard input");
  command.add_option("-k,--key", options.input.arguments, "A key; may be repeated")
      ->option_text("KEY")
      ->expected(1)
      ->take_all()
      ->group("Keys");
  command
      .add_option("--keys", options.format,
                  "lines: the bytes of each line (default)\n"
                  "u64: a decimal or 0x-hexadecimal number a line\n"
                  "binary: 64-bit numbers, 8 bytes each, little endian")
      ->option_text("FORMAT")
      ->group("Keys");
  command.add_flag("-z,--null", options.null_delimited, "Keys end with a zero byte, not a newline")
      ->group("Keys");
  command
      .add_flag("--skip-bad", options.input.skip_bad,
                "Count malformed keys instead of stopping at the first")
      ->group("Keys");
  command.add_flag("--progress", options.progress,
                   "Show progress also where standard error is no terminal");
}

void add_durability(CLI::App& command, std::string& durability) {
  command
      .add_option("--durability", durability,
                  "Least that must survive, else refuse:\n"
                  "process_crash: the death of a process (default)\n"
                  "power_fail_msync: power failure, through msync (slow)\n"
                  "power_fail: power failure, on persistent memory")
      ->option_text("LEVEL");
}

template <typename Options, typename Run>
void on_chosen(CLI::App& command, Action& action, const std::shared_ptr<Options>& options,
               Run run) {
  command.callback([&action, options, run] {
    action.run = [options, run] { return run(*options); };
    action.json = options->json;
  });
}

void add_create(CLI::App& group, Action& action) {
  auto options = std::make_shared<CreateOptions>();
  auto& command = *group.add_subcommand("create", "Make an empty filter");
  add_common(command, *options);
  command.add_option("-c,--capacity", options->capacity, "Keys that it shall hold, such as 10M")
      ->option_text("N")
      ->group("Size (one of)");
  command.add_option("--size", options->size, "Bytes that the file may take, such as 1Gi")
      ->option_text("BYTES")
      ->group("Size (one of)");
  command.add_option("--buckets", options->buckets, "Buckets exactly, a multiple of 8")
      ->option_text("N")
      ->group("Size (one of)");
  command
      .add_option("--max-load", options->max_load,
                  "Share of the slots that --capacity fills (default 95%)")
      ->option_text("FRACTION")
      ->group("Structure");
  command
      .add_option("--layout", options->layout,
                  "Slots x bits a fingerprint, in a bucket of 8 bytes:\n"
                  "7x8, 6x10, 5x12 (default), 4x15, 3x20.\n"
                  "Wrong answers at 95 % load: 4.0 %, 0.9 %, 0.18 %, 0.018 %, 0.0004 %")
      ->option_text("SxF")
      ->group("Structure");
  command
      .add_option("--consistency", options->consistency,
                  "relaxed: a crash may leave a surplus entry (default)\n"
                  "strict: it leaves none; evictions cost more")
      ->option_text("MODE")
      ->group("Structure");
  command.add_option("--seed", options->seed, "Hash seed: a number, or 'random' (default 0)")
      ->option_text("SEED")
      ->group("Structure");
  add_durability(command, options->durability);
  command.add_flag("--force", options->force,
                   "Replace a filter that is there; it stays until the new one is complete");
  command.footer(
      "Examples:\n"
      "  weir filter create words.weir --capacity 200k\n"
      "  weir filter create seen.weir --size 1Gi --layout 4x15 --seed random\n\n"
      "Exit codes: 0 done, 2 wrong option, 3 cannot (file exists, busy, no space).");
  on_chosen(command, action, options, run_create);
}

void add_add(CLI::App& group, Action& action) {
  auto options = std::make_shared<KeyOptions>();
  auto& command = *group.add_subcommand("add", "Add keys");
  add_common(command, *options);
  add_keys(command, *options);
  add_threads(command, *options);
  add_durability(command, options->durability);
  command
      .add_option("--rejects", options->rejects,
                  "Write the keys that were not added here ('-': standard output)")
      ->option_text("FILE");
  command.footer(
      "A key that is added twice takes two slots and is there until it is removed twice.\n"
      "When the filter is full, the keys that were added stay, the others are counted (exit 1).\n"
      "SIGINT or SIGTERM ends it after the current batch and says how far it came.\n\n"
      "Examples:\n"
      "  weir filter add words.weir /usr/share/dict/words\n"
      "  seq 1000000 | weir filter add ids.weir --keys u64\n"
      "  weir filter add a.weir big.txt --rejects - | weir filter add b.weir\n\n" +
      exit_codes("some keys were not added"));
  on_chosen(command, action, options, run_add);
}

void add_query(CLI::App& group, Action& action) {
  auto options = std::make_shared<KeyOptions>();
  auto& command = *group.add_subcommand("query", "Print the keys that are present");
  add_common(command, *options);
  add_keys(command, *options);
  add_threads(command, *options);
  command.add_flag("-v,--invert", options->invert, "Select the keys that are absent");
  command.add_flag("-c,--count", options->count, "Print only how many keys are selected");
  command.footer(
      "Like grep: prints the selected keys as they were written; --quiet stops at the first.\n"
      "'Absent' is certain. 'Present' is wrong for a few keys that were never added: see the\n"
      "false-positive rate in 'weir filter stats'. With --json, a summary instead of the keys.\n\n"
      "Examples:\n"
      "  weir filter query words.weir --key weir && echo probably a word\n"
      "  weir filter query seen.weir --invert today.txt > new.txt\n\n"
      "Exit codes: 0 a key was selected, 1 none was, 2 wrong option or malformed key,\n"
      "3 cannot (file absent, busy, corrupt).");
  on_chosen(command, action, options, run_query);
}

void add_remove(CLI::App& group, Action& action) {
  auto options = std::make_shared<KeyOptions>();
  auto& command = *group.add_subcommand("remove", "Remove keys that were added");
  add_common(command, *options);
  add_keys(command, *options);
  add_threads(command, *options);
  add_durability(command, options->durability);
  command
      .add_option("--rejects", options->rejects,
                  "Write the keys that were not found here ('-': standard output)")
      ->option_text("FILE");
  command.footer(
      "Remove only keys that were added: removing another one may take away a key that shares\n"
      "its fingerprint. Keys that are not found are counted (exit 1).\n\n"
      "Example:\n"
      "  weir filter remove words.weir --key weir\n\n" +
      exit_codes("some keys were not found"));
  on_chosen(command, action, options, run_remove);
}

void add_stats(CLI::App& group, Action& action) {
  auto options = std::make_shared<CommonOptions>();
  auto& command = *group.add_subcommand("stats", "Show size, load, false-positive rate, memory");
  add_common(command, *options);
  add_threads(command, *options);
  command.footer("Exit codes: 0 done, 2 wrong option, 3 cannot (file absent, busy, corrupt).");
  on_chosen(command, action, options, run_stats);
}

void add_verify(CLI::App& group, Action& action) {
  auto options = std::make_shared<CommonOptions>();
  auto& command = *group.add_subcommand("verify", "Check the file and every invariant in it");
  add_common(command, *options);
  add_threads(command, *options);
  command.footer(
      "Reads everything and changes nothing.\n\n"
      "Exit codes: 0 sound, 1 damaged (the problems are listed), 2 wrong option,\n"
      "3 cannot (file absent, busy).");
  on_chosen(command, action, options, run_verify);
}

}  // namespace

void add_filter_commands(CLI::App& app, Action& action) {
  auto& group = *app.add_subcommand(
      "filter", "A persistent set of keys that answers 'absent' or 'probably present'");
  group.group("Commands");
  group.require_subcommand(0, 1);
  add_create(group, action);
  add_add(group, action);
  add_query(group, action);
  add_remove(group, action);
  add_stats(group, action);
  add_verify(group, action);
  for (auto* command : group.get_subcommands([](const CLI::App*) { return true; }))
    command->group("Commands");
  group.footer(
      "A first try:\n"
      "  weir filter create words.weir --capacity 200k\n"
      "  weir filter add words.weir /usr/share/dict/words\n"
      "  weir filter query words.weir --key weir\n"
      "  weir filter stats words.weir\n\n"
      "'weir filter COMMAND --help' has the options, examples and exit codes of each command.");
}

void unknown_value(std::string_view option, const std::string& text,
                   const std::vector<std::string>& names) {
  std::string message = fmt::format("{} is '{}'; allowed are ", option, text);
  for (std::size_t i = 0; i < names.size(); ++i)
    message += (i == 0 ? "" : (i + 1 == names.size() ? " and " : ", ")) + names[i];
  if (const auto near = nearest(text, names); !near.empty())
    message += fmt::format(" (did you mean {}?)", near);
  throw UsageError(message);
}

Durability parse_durability(const std::string& text) {
  std::vector<std::string> names;
  for (const auto level :
       {Durability::process_crash, Durability::power_fail_msync, Durability::power_fail}) {
    if (text == to_string(level)) return level;
    names.emplace_back(to_string(level));
  }
  unknown_value("--durability", text, names);
}

KeyFormat parse_key_format(const std::string& text) {
  if (text == "lines") return KeyFormat::lines;
  if (text == "u64") return KeyFormat::u64;
  if (text == "binary") return KeyFormat::binary;
  unknown_value("--keys", text, {"lines", "u64", "binary"});
}

std::string safe_from(Durability durability) {
  switch (durability) {
    case Durability::none:
      return "nothing";
    case Durability::process_crash:
      return "a process crash";
    case Durability::power_fail_msync:
    case Durability::power_fail:
      return "a power failure";
  }
  return "nothing";
}

anifilter::Filter open_filter(const CommonOptions& options, bool writable, Durability minimum) {
  std::error_code ignored;  // an unreadable directory is reported by the open below
  if (std::filesystem::status(options.path, ignored).type() ==
      std::filesystem::file_type::not_found)
    throw IoError(
        fmt::format("there is no file {}; make a filter with: weir filter create {} "
                    "--capacity N",
                    options.path, options.path));
  anifilter::OpenOptions open;
  open.region.writable = writable;
  open.region.minimum = minimum;
  open.recovery_threads = options.threads == 0 ? hardware_threads() : options.threads;
  return anifilter::Filter::open(options.path, open);
}

void print_json(const nlohmann::ordered_json& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace weir::tool
