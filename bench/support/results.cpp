// SPDX-License-Identifier: Apache-2.0
#include "support/results.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "weir/runtime/cpu.hpp"
#include "weir/runtime/error.hpp"

namespace weir::bench {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

void put_asked(Json& json, const Bar* bar, bool full) {
  json["must"] = nullptr;
  json["reach"] = nullptr;
  if (bar == nullptr || bar->ask == Bar::Ask::report) return;
  const auto must = bar->must_for(full);
  if (bar->ask == Bar::Ask::within)
    json["must"] = Json::array({*must, *bar->upper});
  else
    json["must"] = or_null(must);
  json["reach"] = or_null(bar->reach);
}

Json missing_json(const std::string& name, const Figures& figures, bool full) {
  const Bar* bar = figures.bar_of(name);
  Json json;
  json["name"] = name;
  json["better"] =
      to_string(bar != nullptr && bar->ask == Bar::Ask::at_most ? Better::lower : Better::higher);
  put_asked(json, bar, full);
  json["reason"] = "not measured";
  for (const auto& skipped : figures.skipped())
    if (skipped.name == name) json["reason"] = skipped.reason;
  return json;
}

Json figure_json(const Figure& figure, const Figures& figures, const RunOptions& options) {
  Json json;
  json["name"] = figure.name;
  json["value"] = figure.value;
  json["unit"] = figure.unit;
  json["kind"] = to_string(figure.kind);
  json["better"] = to_string(figure.better);
  json["min"] = or_null(figure.min);
  json["max"] = or_null(figure.max);
  json["samples"] = figure.samples;
  json["baseline"] = figure.baseline;
  json["reference"] = figure.reference;
  json["config"] = figure.config;
  json["mode"] = options.full ? "full" : "quick";
  json["isa"] = to_string(active_isa());
  json["seed"] = figure.seed.value_or(options.seed);
  json["ceiling"] = or_null(figure.ceiling);
  json["probe"] = or_null(figure.probe);
  const Bar* bar = figures.bar_of(figure.name);
  put_asked(json, bar, options.full);
  const Met met = bar != nullptr ? judge(*bar, figure.value, options.full) : Met::not_asked;
  json["met"] = met == Met::not_asked ? Json(nullptr) : Json(to_string(met));
  return json;
}

}  // namespace

std::string results_json(std::string_view module, const Figures& figures, const RunOptions& options,
                         const MachineInfo& machine, double seconds) {
  const BuildInfo build = build_info();
  Json json;
  json["schema"] = "weir-results-1";
  json["module"] = module;
  json["commit"] = source_commit();
  json["build"] = {{"compiler", build.compiler},
                   {"type", build.type},
                   {"flags", build.flags},
                   {"version", build.version}};
  json["machine"] = {{"cpu", machine.cpu},
                     {"cores", machine.cores},
                     {"simd", machine.simd},
                     {"memory_gib", machine.memory_gib},
                     {"gpu", machine.gpu ? Json(*machine.gpu) : Json(nullptr)},
                     {"l2_kib", machine.l2_bytes >> 10},
                     {"l3_mib", machine.l3_bytes >> 20}};
  json["mode"] = options.full ? "full" : "quick";
  json["only"] = options.only.empty() ? Json(nullptr) : Json(options.only);
  json["seconds"] = std::round(seconds * 10) / 10;
  json["figures"] = Json::array();
  for (const Figure& figure : figures.figures())
    json["figures"].push_back(figure_json(figure, figures, options));
  json["skipped"] = Json::array();
  for (const auto& skipped : figures.skipped())
    json["skipped"].push_back({{"name", skipped.name}, {"reason", skipped.reason}});
  json["missing"] = Json::array();
  for (const std::string& name : figures.missing())
    json["missing"].push_back(missing_json(name, figures, options.full));
  json["wrong"] = figures.wrong_results();
  return json.dump(1) + "\n";
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw_system_error("make the folder", path.parent_path().string(), error.value());
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << content;
    file.close();
    if (!file) throw_system_error("write", temporary.string(), errno);
  }
  std::filesystem::rename(temporary, path, error);
  if (error) throw_system_error("rename to", path.string(), error.value());
}

}  // namespace weir::bench
