// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/state_names.h"

#include <algorithm>

namespace mxc::train {

constexpr std::string_view kAveragePrefix = "ema/";

std::string AverageOf(std::string_view state) {
  return std::string(kAveragePrefix) + std::string(state);
}

std::string_view AveragedBy(std::string_view average) {
  if (!average.starts_with(kAveragePrefix)) return {};
  return average.substr(kAveragePrefix.size());
}

std::vector<std::string> NamesOfForm(std::string_view form) {
  std::vector<std::string> names;
  for (std::string_view rest = form; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find_first_of("(), "));
    if (!word.empty() && word != "None") names.emplace_back(word);
    rest.remove_prefix(std::max(word.size(), size_t{1}));
  }
  return names;
}

StateNames::StateNames(const TrainFacts& facts,
                       const std::vector<data::Field>& states)
    : facts_(facts) {
  for (size_t i = 0; i < states.size(); ++i) indices_[states[i].name] = i;
  for (const std::string& name : facts.auxiliaries) {
    places_[name] = Place::kAuxiliary;
  }
  for (const std::string& name : facts.parameters) {
    places_[name] = Place::kParameter;
    for (const std::string& state : NamesOfForm(FormOf(name))) {
      places_[name + "/" + state] = Place::kOptimizer;
    }
  }
}

const std::string& StateNames::OptimizersForm(
    const std::string& parameter) const {
  const bool copied = Find(parameter + "/weight_f32").has_value();
  return copied ? facts_.copied_state : facts_.optimizer_state;
}

bool StateNames::IsUpdated(const std::string& parameter) const {
  const std::vector<std::string> names = NamesOfForm(OptimizersForm(parameter));
  return names.empty() ||
         std::ranges::any_of(names, [&](const std::string& name) {
           return Find(parameter + "/" + name).has_value();
         });
}

const std::string& StateNames::FormOf(const std::string& parameter) const {
  static const std::string none = "None";
  const std::string& form = OptimizersForm(parameter);
  return form.empty() || !IsUpdated(parameter) ? none : form;
}

StateNames::Place StateNames::PlaceOf(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? Place::kElsewhere : found->second;
}

std::optional<size_t> StateNames::Find(std::string_view name) const {
  const auto found = indices_.find(name);
  if (found == indices_.end()) return std::nullopt;
  return found->second;
}

}  // namespace mxc::train
