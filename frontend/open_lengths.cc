// SPDX-License-Identifier: Apache-2.0
#include "frontend/open_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "frontend/variables.h"

namespace mxc {
namespace {

// Axes that the front end has not named are of the length "".
void NameAxes(const BuildOptions& options, Graph& graph) {
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    const auto given = options.open_axes.find(input->name);
    if (given == options.open_axes.end()) continue;
    input->use.open.clear();
    for (const auto& [axis, length] : given->second) {
      input->use.open.push_back({.axis = axis, .length = length});
    }
  }
  VisitOpenAxes(graph, [](Node& input, int axis, int64_t&) {
    auto& open = input.use.open;
    if (std::ranges::count(open, axis, &LengthAxis::axis) > 0) return;
    open.push_back({.axis = axis});
  });
}

// One without a name is told from no other one.
void RequireTold(const Node& input, Diagnostics& errors) {
  std::vector<int> nameless;
  for (const LengthAxis& open : input.use.open) {
    if (open.length.empty()) nameless.push_back(open.axis);
  }
  if (nameless.size() < 2) return;
  errors.push_back(Error(
      input.loc,
      "input '{0}' leaves axes {1} and {2} open without a name; --input-shape "
      "{0}:… has letters for them, as in 1xSxT, or an extent for one",
      input.name, nameless[0], nameless[1]));
}

std::string Quoted(const std::set<std::string>& names) {
  std::string text;
  size_t left = names.size();
  for (const std::string& name : names) {
    text += fmt::format("'{}'{}", name.substr(0, 100),
                        left == 1   ? ""
                        : left == 2 ? " and "
                                    : ", ");
    --left;
  }
  return text;
}

// "S=512,T=512"
std::string Example(const std::set<std::string>& names, int64_t most) {
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name.substr(0, 100),
                        most);
  }
  return text;
}

// Of what the options say of the lengths that there are, what is wrong.
void RequireNames(const BuildOptions& options,
                  const std::set<std::string>& names, Diagnostics& errors) {
  std::set<std::string> written = names;
  written.erase("");
  const auto& [first, most] = *options.lengths.begin();
  if (first.empty()) {
    if (names.size() == 1) return;
    errors.push_back(Error(
        {},
        "inputs leave several lengths open, {}{}; --length {} "
        "says how long each may be",
        Quoted(written), names.contains("") ? " and one without a name" : "",
        Example(written, most)));
    return;
  }
  for (const auto& [name, extent] : options.lengths) {
    if (names.contains(name)) continue;
    errors.push_back(Error(
        {}, "--length names '{}'; {}", name.substr(0, 100),
        written.empty() ? "the length that inputs leave open has no name: "
                          "--length " +
                              std::to_string(extent)
                        : "what inputs leave open is " + Quoted(written)));
  }
}

void RequireExtent(const BuildOptions& options, const Node& input,
                   const LengthAxis& open, std::set<std::string>& told,
                   Diagnostics& errors) {
  if (options.lengths.contains(open.length)) return;
  if (!told.insert(open.length).second) return;
  if (open.length.empty()) {
    errors.push_back(Error(
        input.loc,
        "input '{0}' leaves axis {1} open without a name; --input-shape {0}:… "
        "has a letter for it, as in 1xT, or an extent",
        input.name, open.axis));
  } else {
    errors.push_back(Error(
        input.loc,
        "input '{}' leaves axis {} open, '{}'; --length {}=N says how long it "
        "may be",
        input.name, open.axis, open.length.substr(0, 100),
        open.length.substr(0, 100)));
  }
}

}  // namespace

Status OpenLengths(const BuildOptions& options, Graph& graph) {
  NameAxes(options, graph);
  const std::vector<Node*> inputs = graph.Variables(VariableRole::kInput);
  std::set<std::string> names;
  Diagnostics errors;
  for (const Node* input : inputs) {
    RequireTold(*input, errors);
    for (const LengthAxis& open : input->use.open) names.insert(open.length);
  }
  if (names.empty()) {
    return Error({},
                 "--length is for inputs that leave an axis open behind the "
                 "batch, or have an L in --input-shape; this network has none");
  }
  const bool only = options.lengths.begin()->first.empty();
  RequireNames(options, names, errors);
  std::set<std::string> told;
  for (Node* input : inputs) {
    for (LengthAxis& open : input->use.open) {
      if (only) {
        open.length.clear();
      } else {
        RequireExtent(options, *input, open, told, errors);
      }
    }
  }
  if (!errors.empty()) return errors;
  for (Node* input : inputs) {
    auto& axes = input->use.open;
    for (const LengthAxis& open : axes) {
      input->types[0].shape[open.axis] = options.lengths.at(open.length);
    }
    std::erase_if(axes, [&](const LengthAxis& open) {  // nothing is shorter
      return options.lengths.at(open.length) == 1;
    });
  }
  return Done{};
}

}  // namespace mxc
