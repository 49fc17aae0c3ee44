// SPDX-License-Identifier: Apache-2.0
// The command-line program of Weir.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "weir/config.hpp"
#include "weir/runtime/cpu.hpp"
#include "weir/runtime/error.hpp"
#include "weir/runtime/persistent_region.hpp"

#include "program.hpp"

namespace weir::tool {
namespace {

std::string version() {
  return fmt::format("weir {}\nbuilt with {}{}; libpmem {}; this processor runs {}", WEIR_VERSION,
#if defined(__clang__)
                     "clang ", __clang_version__,
#else
                     "g++ ", __VERSION__,
#endif
                     have_libpmem() ? "yes" : "no", to_string(detected_isa()));
}

/// CLI11's help with our usage lines, the general options last and no gaps.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(28);
    label("Positionals", "Arguments");
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string help = make_description(app) + make_usage(app, std::move(name)) +
                       make_positionals(app) + make_subcommands(app, CLI::AppFormatMode::Normal);
    auto groups = app->get_groups();
    std::stable_partition(groups.begin(), groups.end(),
                          [](const std::string& group) { return group != "Options"; });
    for (const auto& group : groups) {
      const auto options = app->get_options([&group](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      });
      if (!options.empty()) help += make_group(group, false, options);
    }
    const std::string footer = make_footer(app);
    return footer.empty() ? help : help + "\n" + footer;
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "\nUsage: " + name;
    if (!app->get_subcommands([](const CLI::App*) { return true; }).empty()) {
      usage += " COMMAND [OPTIONS]";
    } else {
      for (const auto* option :
           app->get_options([](const CLI::Option* o) { return o->get_positional(); })) {
        usage +=
            option->get_required() ? " " + option->get_name() : " [" + option->get_name() + " ...]";
      }
      usage += " [OPTIONS]";
    }
    return usage + "\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }
};

/// The subcommand that the user got to: `weir filter add` of `weir filter add --bogus`.
const CLI::App* deepest(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

std::string full_name(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name()
                                      : full_name(app->get_parent()) + " " + app->get_name();
}

std::string describe_extra(const CLI::App* app, const std::string& extra) {
  std::vector<std::string> names;
  const bool option = extra.size() > 1 && extra[0] == '-';
  if (option) {
    for (const auto* known : app->get_options())
      for (const auto& name : known->get_lnames()) names.push_back("--" + name);
  } else {
    for (const auto* known : app->get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(known->get_name());
  }
  const bool command = !option && !names.empty();
  std::string message = fmt::format("unknown {} '{}'",
                                    option    ? "option"
                                    : command ? "command"
                                              : "argument",
                                    extra);
  const std::string word = extra.substr(0, extra.find('='));
  if (const auto near = nearest(word, names); !near.empty())
    message += fmt::format("; did you mean '{}'?", near);
  return message;
}

int report_parse_error(CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const CLI::App* at = deepest(&app);
  std::string message = error.what();
  for (const CLI::App* from = at; from != nullptr; from = from->get_parent()) {
    const auto extras = from->remaining();
    if (!extras.empty()) message = describe_extra(from, extras.front());
  }
  fmt::print(stderr, "weir: {}\nSee '{} --help'.\n", message, full_name(at));
  return kUsage;
}

int fail(const Action& action, int code, std::string_view kind, const std::string& message) {
  fmt::print(stderr, "weir: {}\n", message);
  if (action.json) {
    const nlohmann::ordered_json object{
        {"error", {{"kind", kind}, {"message", message}, {"exit_code", code}}}};
    fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return code;
}

}  // namespace

int run_guarded(const Action& action) {
  try {
    const int code = action.run();
    if (std::fflush(stdout) != 0) return fail(action, kCannot, "io", "cannot write the output");
    return code;
  } catch (const UsageError& error) {
    return fail(action, kUsage, "usage", error.what());
  } catch (const InvalidArgument& error) {
    return fail(action, kUsage, "usage", error.what());
  } catch (const Busy& error) {
    return fail(action, kCannot, "busy", error.what());
  } catch (const CorruptData& error) {
    return fail(action, kCannot, "corrupt", error.what());
  } catch (const Unsupported& error) {
    return fail(action, kCannot, "unsupported", error.what());
  } catch (const OutOfSpace& error) {
    return fail(action, kCannot, "out_of_space", error.what());
  } catch (const IoError& error) {
    return fail(action, kCannot, "io", error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(action, kCannot, "io", error.what());
  } catch (const std::bad_alloc&) {
    return fail(action, kCannot, "memory", "not enough memory");
  } catch (const std::exception& error) {
    return fail(action, kCannot, "other", error.what());
  }
}

namespace {

int run(int argc, char** argv) {
  CLI::App app{"Weir: persistent-memory filters (training and serving schedules will follow)",
               "weir"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "Show this help");
  app.set_version_flag("--version", version(), "Show the version and what this build contains");
  app.require_subcommand(0, 1);
  app.footer("'weir COMMAND --help' says more.");
  Action action;
  add_filter_commands(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error);
  }
  if (!action.run) {
    const CLI::App* at = deepest(&app);
    const auto* parent = at->get_parent();
    fmt::print(stderr, "{}", at->help(parent == nullptr ? "" : full_name(parent)));
    return kUsage;
  }
  return run_guarded(action);
}

}  // namespace
}  // namespace weir::tool

int main(int argc, char** argv) { return weir::tool::run(argc, argv); }
