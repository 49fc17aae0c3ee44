// SPDX-License-Identifier: Apache-2.0
// The results contract as a check: every program checks its own file before it writes it.
#include <algorithm>
#include <array>
#include <functional>

#include <nlohmann/json.hpp>

#include "support/results.hpp"

namespace weir::bench {
namespace {

using Json = nlohmann::json;
using Test = bool (*)(const Json&);

constexpr Test kText = [](const Json& j) { return j.is_string(); };
constexpr Test kSomeText = [](const Json& j) { return j.is_string() && !j.empty() && j != ""; };
constexpr Test kNumber = [](const Json& j) { return j.is_number(); };
constexpr Test kCount = [](const Json& j) { return j.is_number_unsigned(); };
constexpr Test kNumberOrNull = [](const Json& j) { return j.is_number() || j.is_null(); };
constexpr Test kTextOrNull = [](const Json& j) { return j.is_string() || j.is_null(); };
constexpr Test kList = [](const Json& j) { return j.is_array(); };
constexpr Test kObject = [](const Json& j) { return j.is_object(); };
constexpr Test kMode = [](const Json& j) { return j == "quick" || j == "full"; };
constexpr Test kKind = [](const Json& j) {
  return j == "measured" || j == "counted" || j == "emulated" || j == "simulated";
};
constexpr Test kBetter = [](const Json& j) { return j == "higher" || j == "lower"; };
constexpr Test kMust = [](const Json& j) {
  return j.is_null() || j.is_number() || (j.is_array() && j.size() == 2);
};
constexpr Test kMet = [](const Json& j) {
  return j.is_null() || j == "no" || j == "must" || j == "reach";
};

struct Field {
  const char* name;
  Test test;
};

constexpr std::array kTopFields{
    Field{"module", kSomeText}, Field{"commit", kSomeText}, Field{"build", kObject},
    Field{"machine", kObject},  Field{"mode", kMode},       Field{"only", kTextOrNull},
    Field{"seconds", kNumber},  Field{"figures", kList},    Field{"skipped", kList},
    Field{"missing", kList},    Field{"wrong", kList},
};
constexpr std::array kMachineFields{
    Field{"cpu", kSomeText},      Field{"cores", kCount},    Field{"simd", kText},
    Field{"memory_gib", kNumber}, Field{"gpu", kTextOrNull},
};
constexpr std::array kFigureFields{
    Field{"name", kSomeText},
    Field{"value", kNumber},
    Field{"unit", kText},
    Field{"kind", kKind},
    Field{"better", kBetter},
    Field{"min", kNumber},
    Field{"max", kNumber},
    Field{"samples", kCount},
    Field{"baseline", kText},
    Field{"reference", kText},
    Field{"config", kText},
    Field{"mode", kMode},
    Field{"isa", kSomeText},
    Field{"seed", kCount},
    Field{"ceiling", kNumberOrNull},
    Field{"probe", kNumberOrNull},
    Field{"must", kMust},
    Field{"reach", kNumberOrNull},
    Field{"met", kMet},
};

constexpr std::array kMissingFields{
    Field{"name", kSomeText},      Field{"better", kBetter},   Field{"must", kMust},
    Field{"reach", kNumberOrNull}, Field{"reason", kSomeText},
};

template <class Fields>
void check_fields(const Json& json, const Fields& fields, const std::string& where,
                  std::vector<std::string>& problems) {
  if (!json.is_object()) {
    problems.push_back(where + " is not an object");
    return;
  }
  for (const Field& field : fields) {
    if (!json.contains(field.name))
      problems.push_back(where + " lacks '" + field.name + "'");
    else if (!field.test(json[field.name]))
      problems.push_back(where + ": '" + field.name + "' is " + json[field.name].dump());
  }
}

void check_figure(const Json& figure, std::vector<std::string>& problems) {
  const std::string where =
      "figure " + (figure.is_object() && figure.contains("name") ? figure["name"].dump() : "?");
  const std::size_t before = problems.size();
  check_fields(figure, kFigureFields, where, problems);
  if (problems.size() != before) return;
  const double value = figure["value"];
  if (figure["samples"] == 0) problems.push_back(where + " has no samples");
  if (value < figure["min"].get<double>() || value > figure["max"].get<double>())
    problems.push_back(where + ": value is not between min and max");
}

}  // namespace

std::vector<std::string> contract_problems(std::string_view json_text) {
  std::vector<std::string> problems;
  const Json json = Json::parse(json_text, nullptr, false);
  if (json.is_discarded()) return {"not JSON"};
  check_fields(json, kTopFields, "file", problems);
  if (!problems.empty()) return problems;
  if (json.value("schema", "") != "weir-results-1")
    problems.push_back("schema is not weir-results-1");
  check_fields(json["machine"], kMachineFields, "machine", problems);
  for (const Json& figure : json["figures"]) check_figure(figure, problems);
  for (const Json& missing : json["missing"])
    check_fields(missing, kMissingFields, "missing", problems);
  return problems;
}

}  // namespace weir::bench
