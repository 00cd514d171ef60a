// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/initial_states.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "runtime/train/floats.h"
#include "runtime/train/parameter_initializer.h"
#include "runtime/train/state_arrays.h"
#include "runtime/train/state_names.h"

namespace mxc::train {

using runtime::Array;
using runtime::NamedArray;
using runtime::StateValue;

namespace {

// "2 arrays are none of the network's parameters: a, b"; nothing of none.
void Tell(const std::vector<std::string>& names, const char* one,
          const char* several, std::vector<std::string>& sentences) {
  if (names.empty()) return;
  constexpr size_t kShown = 6;
  std::string text = names.size() == 1
                         ? std::string("1 ") + one
                         : std::to_string(names.size()) + " " + several;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) {
    text += (i == 0 ? ": " : ", ") + names[i];
  }
  sentences.push_back(text + (names.size() > kShown ? " …" : ""));
}

Status CopyConverted(const NamedArray& named, const data::Field& field,
                     std::span<std::byte> target) {
  if (named.array.type == field.type) {
    std::memcpy(target.data(), named.array.bytes().data(), target.size());
    return {};
  }
  if (field.type != runtime::ElementType::kF32) {
    return Fail(StatusCode::kUnsupported,
                "'%s' has another type in the network", field.name.c_str());
  }
  ToFloats(
      named.array.type, named.array.bytes(),
      {reinterpret_cast<float*>(target.data()), target.size() / sizeof(float)});
  return {};
}

bool IsNamed(const TrainFacts& facts, const std::string& name) {
  return std::ranges::count(facts.parameters, name) > 0 ||
         std::ranges::count(facts.auxiliaries, name) > 0;
}

// Parameters and auxiliary states of which there is no array.
std::vector<std::string> WithoutArray(const TrainFacts& facts,
                                      const std::set<std::string>& given) {
  std::vector<std::string> missing;
  for (const auto* names : {&facts.parameters, &facts.auxiliaries}) {
    std::ranges::copy_if(
        *names, std::back_inserter(missing),
        [&](const std::string& name) { return !given.contains(name); });
  }
  return missing;
}

}  // namespace

StatusOr<std::vector<std::string>> LoadParameters(
    std::span<const NamedArray> arrays, TrainStep& step, bool leave_unfit) {
  const StateNames states(step.facts(), step.states());
  std::set<std::string> given;
  int64_t fitting = 0;  // arrays that have a state
  std::vector<std::string> homeless, unfit, sentences;
  for (const NamedArray& named : arrays) {
    const std::string name(WithoutPrefix(named.name));
    const std::optional<size_t> index = states.Find(name);
    given.insert(name);
    if (!index) {
      fitting += step.facts().elsewhere.contains(name);
      // One that nothing reads has a name and no state.
      if (!IsNamed(step.facts(), name)) homeless.push_back(name);
      continue;
    }
    ++fitting;
    const data::Field& field = step.states()[*index];
    if (named.array.shape == field.shape) {
      MXC_RT_RETURN_IF_ERROR(CopyConverted(named, field, step.State(*index)));
      step.Filled(*index);
      continue;
    }
    if (!leave_unfit) {
      return Fail(StatusCode::kInvalidArgument,
                  "'%s' has another shape in the network", name.c_str());
    }
    unfit.push_back(name);
  }
  if (fitting == 0 && !arrays.empty()) {
    return Fail(StatusCode::kNotFound,
                "none of the %zu arrays is a parameter of the network",
                arrays.size());
  }
  Tell(homeless, "array is no parameter of the network",
       "arrays are no parameters of the network", sentences);
  Tell(unfit, "array of another shape is left out",
       "arrays of other shapes are left out", sentences);
  given.insert(step.facts().elsewhere.begin(), step.facts().elsewhere.end());
  Tell(WithoutArray(step.facts(), given),
       "parameter has no array and stays as it was",
       "parameters have no array and stay as they were", sentences);
  return sentences;
}

namespace {

// Whether a state of a file is what the network has: None where it has none,
// arrays of the same type and shape. Notes which bytes go where.
class Match {
 public:
  bool Add(const StateValue& own, const StateValue& given) {
    if (own.array && given.array) {
      copies_.emplace_back(*own.array, *given.array);
      return own.array->type == given.array->type &&
             own.array->shape == given.array->shape;
    }
    if (own.array.has_value() != given.array.has_value() ||
        own.is_tuple != given.is_tuple ||
        own.items.size() != given.items.size()) {
      return false;
    }
    for (size_t i = 0; i < own.items.size(); ++i) {
      if (!Add(own.items[i], given.items[i])) return false;
    }
    return true;
  }

  // Calls `filled` with the place of each array that has its values.
  void Copy(const std::function<void(const std::byte*)>& filled) {
    for (auto& [own, given] : copies_) {
      std::ranges::copy(given.bytes(), own.bytes().begin());
      filled(own.bytes().data());
    }
  }

 private:
  std::vector<std::pair<Array, Array>> copies_;
};

// What the file holds for the parameter; None where it has no entry.
StateValue EntryOf(const runtime::UpdaterStates& updater, size_t index,
                   const std::string& parameter) {
  for (const auto& entry : updater.entries) {
    const auto* number = std::get_if<int64_t>(&entry.key);
    const bool is_it = number != nullptr
                           ? *number == static_cast<int64_t>(index)
                           : std::get<std::string>(entry.key) == parameter;
    if (is_it) return entry.value;
  }
  return {};
}

}  // namespace

Status LoadUpdaterStates(const runtime::UpdaterStates& updater,
                         TrainStep& step) {
  const StateNames states(step.facts(), step.states());
  const std::vector<std::string>& parameters = step.facts().parameters;
  for (const auto& entry : updater.entries) {
    if (!ParameterOf(entry, step.facts()).empty()) continue;
    return Fail(StatusCode::kInvalidArgument,
                "it has a state of %s, and the network has %zu parameters, "
                "none of which is that",
                KeyText(entry).c_str(), parameters.size());
  }
  Match match;
  std::map<const std::byte*, size_t> rows;  // of states, by where they lie
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (step.facts().elsewhere.contains(parameters[i])) continue;
    const StatusOr<StateValue> own =
        OwnState(states, parameters[i], [&](size_t index) {
          Array view = ViewOfState(step, index);
          rows[view.bytes().data()] = index;
          return view;
        });
    if (!own.ok()) return own.status();
    const StateValue given = EntryOf(updater, i, parameters[i]);
    if (!states.IsUpdated(parameters[i]) && !FlattenState(given).empty()) {
      return Fail(StatusCode::kInvalidArgument,
                  "it has a state of parameter %zu, '%s', which is not trained "
                  "here",
                  i, parameters[i].c_str());
    }
    if (!match.Add(*own, given)) {
      return Fail(StatusCode::kInvalidArgument,
                  "its state of parameter %zu, '%s', is not what optimizer "
                  "'%s' keeps: %s of the parameter's shape",
                  i, parameters[i].c_str(), step.facts().optimizer.c_str(),
                  states.FormOf(parameters[i]).c_str());
    }
  }
  match.Copy([&](const std::byte* state) { step.Filled(rows.at(state)); });
  // Copies of parameters are there, too: the first update must not make them.
  if (const auto begun = states.Find(step.facts().begun)) {
    const double yes = 1;
    std::ranges::copy(std::as_bytes(std::span(&yes, 1)),
                      step.State(*begun).begin());
  }
  return {};
}

Status InitializeParameters(std::string_view how, uint64_t seed,
                            TrainStep& step) {
  const auto initializer = ParameterInitializer::Parse(how);
  if (!initializer.ok()) return initializer.status();
  const StateNames states(step.facts(), step.states());
  for (const std::string& name : step.facts().parameters) {
    const std::optional<size_t> index = states.Find(name);
    if (!index) continue;
    const data::Field& field = step.states()[*index];
    if (field.type != runtime::ElementType::kF32) {
      return Fail(StatusCode::kUnsupported,
                  "'%s' is not float32: initialize it when compiling",
                  name.c_str());
    }
    const std::span<std::byte> bytes = step.State(*index);
    const Target target{.name = name,
                        .shape = field.shape,
                        .values = {reinterpret_cast<float*>(bytes.data()),
                                   bytes.size() / sizeof(float)},
                        .seed = seed};
    MXC_RT_RETURN_IF_ERROR(initializer->Fill(target, ""));
    step.Filled(*index);
  }
  return {};
}

}  // namespace mxc::train
