// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/weight_names.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "frontend/native/make_weight.h"
#include "frontend/native/name_pattern.h"

namespace mxc {
namespace {

using runtime::Array;
using runtime::NamedArray;

// The parameters that one table finds in a file.
class Finding {
 public:
  using Arrays = std::unordered_map<std::string_view, const NamedArray*>;
  struct Found {
    const WeightRow* row;
    std::string parameter;
    std::vector<const NamedArray*> from;
  };

  Finding(const WeightTable& table, const Arrays& arrays, Budget& budget)
      : table_(table), arrays_(arrays), budget_(budget) {}

  void Find(const std::string& parameter) {
    for (const WeightRow& row : table_) {
      if (!budget_.Spend(1)) return;
      const auto captured = Match(row.pattern, parameter);
      if (!captured) continue;
      Found found{&row, parameter, {}};
      for (const std::vector<std::string>& forms : row.from) {
        const NamedArray* array = nullptr;
        for (size_t i = 0; array == nullptr && i < forms.size(); ++i) {
          const auto at = arrays_.find(NameOf(forms[i], *captured, budget_));
          if (at != arrays_.end()) array = at->second;
        }
        if (array == nullptr) {
          lacking_.push_back("'" + NameOf(forms[0], *captured, budget_) +
                             "' for '" + parameter + "'");
          return;
        }
        found.from.push_back(array);
      }
      found_.push_back(std::move(found));
      return;
    }
  }

  const std::vector<Found>& found() const { return found_; }
  const std::vector<std::string>& lacking() const { return lacking_; }

 private:
  const WeightTable& table_;
  const Arrays& arrays_;
  Budget& budget_;
  std::vector<Found> found_;
  std::vector<std::string> lacking_;
};

std::vector<std::string> ParametersOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes()) {
    if (node->kind == Node::Kind::kVariable &&
        node->role != VariableRole::kInput) {
      names.push_back(node->name);
    }
  }
  return names;
}

// What was found under the parameters' names, and all that is left over, save
// arrays that have the name of what was found by chance.
Result<ParameterArrays> Renamed(const Finding& finding,
                                const ParameterArrays& arrays,
                                const std::string& file) {
  ParameterArrays named;
  std::set<const NamedArray*> used;
  std::set<std::string_view> found_names;
  WeightMaker maker(file, arrays);
  for (const Finding::Found& found : finding.found()) {
    MXC_ASSIGN(Array made, maker.Make(*found.row, found.from));
    named.push_back({found.parameter, std::move(made)});
    used.insert(found.from.begin(), found.from.end());
    found_names.insert(found.parameter);
  }
  for (const NamedArray& array : arrays) {
    if (!used.contains(&array) &&
        !found_names.contains(runtime::OwnName(array.name))) {
      named.push_back(array);
    }
  }
  return named;
}

void NoteLacking(const std::string& file,
                 const std::vector<std::string>& lacking, Diagnostics& notes) {
  constexpr size_t kShown = 6;
  if (lacking.empty()) return;
  const size_t shown = std::min(lacking.size(), kShown);
  std::string names = lacking[0];
  for (size_t i = 1; i < shown; ++i) names += ", " + lacking[i];
  if (shown < lacking.size()) {
    names += fmt::format(" and {} more", lacking.size() - shown);
  }
  notes.push_back(Error({}, "{} has no {}", file, names));
}

}  // namespace

Result<std::shared_ptr<const WeightNames>> WeightNames::Read(
    const JsonDocument& document) {
  const JsonValue* weights = document.root().Find("weights");
  if (weights == nullptr) return std::shared_ptr<const WeightNames>();
  Diagnostics errors;
  auto names = std::make_shared<WeightNames>();
  names->tables_ = ReadWeightTables(document, *weights, errors);
  if (!errors.empty()) return errors;
  return std::shared_ptr<const WeightNames>(std::move(names));
}

Result<ParameterArrays> WeightNames::Apply(const Graph& graph,
                                           const ParameterArrays& arrays,
                                           const std::string& file,
                                           Diagnostics& notes) const {
  const std::vector<std::string> parameters = ParametersOf(graph);
  const std::set<std::string_view> ours(parameters.begin(), parameters.end());
  Finding::Arrays by_name;
  size_t own = 0;  // that have our names: by chance, or all
  for (const NamedArray& array : arrays) {
    own += ours.contains(runtime::OwnName(array.name)) ? 1 : 0;
    by_name.emplace(array.name, &array);
  }
  Budget budget;
  std::optional<Finding> best;
  for (const WeightTable& table : tables_) {
    Finding finding(table, by_name, budget);
    for (const std::string& parameter : parameters) finding.Find(parameter);
    if (!best || finding.found().size() > best->found().size()) {
      best.emplace(std::move(finding));
    }
  }
  if (budget.exhausted()) return Error({}, "{}: {}", file, budget.Error());
  if (!best || best->found().size() <= own) return arrays;
  NoteLacking(file, best->lacking(), notes);
  return Renamed(*best, arrays, file);
}

}  // namespace mxc
