// SPDX-License-Identifier: Apache-2.0
#include "support/program.hpp"

#include <cstdio>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "support/machine.hpp"
#include "support/results.hpp"

namespace weir::bench {
namespace {

void print_list(std::span<const Topic> topics, std::span<const Bar> bars) {
  for (const Topic& topic : topics) {
    std::cout << topic.name << ": " << topic.what << "\n";
    for (const Bar& bar : bars)
      if (bar.topic == topic.name)
        std::cout << "    " << bar.name << (bar.only_in_full ? " (only with --full)" : "") << "\n";
  }
}

int write_results(std::string_view module, Figures& figures, const RunOptions& options,
                  const MachineInfo& machine) {
  const std::string json =
      results_json(module, figures, options, machine, figures.progress().seconds());
  for (const std::string& problem : contract_problems(json))
    figures.wrong("results contract: " + problem);
  try {
    write_file(options.out, json);
  } catch (const std::exception& error) {
    figures.wrong(error.what());
  }
  std::cout << results_table(figures, options);
  std::cout << "written to " << options.out << "\n";
  if (figures.wrong_results().empty()) return 0;
  std::cerr << "FAILED: " << figures.wrong_results().size() << " wrong result(s), see above\n";
  return 1;
}

}  // namespace

int run_figures(std::string_view module, std::string_view description,
                std::span<const Topic> topics, std::span<const Bar> bars, int argc,
                const char* const* argv) {
  RunOptions options;
  options.out = "results/" + std::string(module) + ".json";
  bool list = false;
  CLI::App app{std::string(description)};
  app.add_flag("--full", options.full, "All sizes and samples; takes much longer");
  app.add_option("--out", options.out, "Where the results are written")->capture_default_str();
  app.add_option("--only", options.only,
                 "Run only the topics and figures whose name contains this regular expression");
  app.add_option(
      "--data", options.data,
      "Directory of the shipped data (default: WEIR_DATA, else data/ of the source tree)");
  app.add_option("--seed", options.seed, "Seed of all keys and random choices")
      ->capture_default_str();
  app.add_flag("--list", list, "Print topics and the figures that they must give, and stop");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (list) {
    print_list(topics, bars);
    return 0;
  }
  try {
    Figures figures(bars, options);
    const MachineInfo machine = read_machine();
    figures.progress().line("%s, %zu core(s), %s", machine.cpu.c_str(), machine.cores,
                            machine.simd.c_str());
    bool any = false;
    for (const Topic& topic : topics) {
      if (!figures.wants_topic(topic.name)) continue;
      any = true;
      figures.enter_topic(topic.name);
      figures.progress().line("%s: %s", std::string(topic.name).c_str(),
                              std::string(topic.what).c_str());
      try {
        topic.run(figures, options);
      } catch (const std::exception& error) {
        figures.wrong("topic " + std::string(topic.name) + " ended early: " + error.what());
      }
    }
    if (!any) {
      std::cerr << "--only '" << options.only << "' names no topic or figure; try --list\n";
      return 2;
    }
    return write_results(module, figures, options, machine);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}

}  // namespace weir::bench
