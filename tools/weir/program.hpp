// SPDX-License-Identifier: Apache-2.0
// What the subcommands of `weir` share: exit codes, the way they are registered, errors.
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace weir::tool {

/// The exit codes of every subcommand; in --help and docs/anifilter.md.
enum ExitCode : int {
  kOk = 0,
  kNo = 1,             ///< it ran, and the answer is no: key absent, filter full, problems found
  kUsage = 2,          ///< an option or the input is not what is allowed
  kCannot = 3,         ///< the machine or the file says no: IO, space, corrupt, busy, unsupported
  kInterrupted = 130,  ///< SIGINT or SIGTERM; what was done so far is durable
};

/// An option or input that is not allowed; the message says what is.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What to run once the command line is parsed.
struct Action {
  std::function<int()> run;  ///< returns the exit code
  bool json = false;
};

/// Adds `weir filter ...`. The chosen subcommand stores what to do in `action`, which must outlive
/// the parse.
void add_filter_commands(CLI::App& app, Action& action);

/// Runs `action` and turns what it throws into a message on standard error (for JSON also an object
/// on standard output) and an exit code.
int run_guarded(const Action& action);

/// The one of `candidates` that is nearest to `word` by edits (insert, delete, replace, swap), or
/// empty if none is near enough to be what was meant.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace weir::tool
