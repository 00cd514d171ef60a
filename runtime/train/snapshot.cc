// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/snapshot.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "runtime/train/floats.h"
#include "runtime/train/parameter_initializer.h"
#include "runtime/train/state_names.h"

namespace mxc::train {
namespace {

using runtime::Array;
using runtime::NamedArray;
using runtime::StateValue;

// The network's own memory: saving a large network must not double it.
Array View(TrainStep& step, size_t index) {
  const data::Field& field = step.states()[index];
  const auto leave = [](std::byte*) {};
  return {field.type, field.shape,
          std::shared_ptr<std::byte[]>(step.State(index).data(), leave)};
}

// What a parameter's state is in the network.
StatusOr<StateValue> OwnState(const StateNames& states,
                              const std::string& parameter, TrainStep& step) {
  return StateOfForm(
      states.FormOf(parameter), [&](std::string_view name) -> StatusOr<Array> {
        const std::string full = parameter + "/" + std::string(name);
        if (const auto index = states.Find(full)) return View(step, *index);
        return Fail(StatusCode::kNotFound, "the network has no state '%s'",
                    full.c_str());
      });
}

// "float32 (64, 784)"
std::string TypeText(runtime::ElementType type,
                     const std::vector<int64_t>& shape) {
  std::string text(runtime::ElementName(type));
  const char* separator = " (";
  for (const int64_t extent : shape) {
    text += std::exchange(separator, ", ") + std::to_string(extent);
  }
  return text + (shape.empty() ? "" : ")");
}

std::string_view WithoutPrefix(std::string_view name) {
  if (name.starts_with("arg:") || name.starts_with("aux:")) {
    name.remove_prefix(4);
  }
  return name;
}

// All arrays of a checkpoint under the names of states.
std::map<std::string, Array> ArraysByState(
    const Checkpoint& checkpoint, const TrainFacts& facts,
    const std::vector<data::Field>& fields) {
  const StateNames states(facts, fields);
  std::map<std::string, Array> arrays;
  for (const NamedArray& named : checkpoint.parameters) {
    arrays[std::string(WithoutPrefix(named.name))] = named.array;
  }
  for (const NamedArray& named : checkpoint.states) {
    arrays[named.name] = named.array;
  }
  for (const auto& entry : checkpoint.updater.entries) {
    std::string parameter;
    if (const auto* index = std::get_if<int64_t>(&entry.key)) {
      if (*index < 0 ||
          *index >= static_cast<int64_t>(facts.parameters.size())) {
        continue;
      }
      parameter = facts.parameters[static_cast<size_t>(*index)];
    } else {
      parameter = std::get<std::string>(entry.key);
    }
    const std::vector<std::string> names =
        NamesOfForm(states.FormOf(parameter));
    const std::vector<Array> values = FlattenState(entry.value);
    for (size_t k = 0; k < values.size() && k < names.size(); ++k) {
      arrays[parameter + "/" + names[k]] = values[k];
    }
  }
  return arrays;
}

void SkipSpaces(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

Status ParseForm(std::string_view& text, int depth,
                 const std::function<StatusOr<Array>(std::string_view)>& array,
                 StateValue* value) {
  SkipSpaces(text);
  if (!text.starts_with('(')) {
    const size_t end = text.find_first_of("(),");
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(name.size());
    if (name == "None") return {};
    StatusOr<Array> found = array(name);
    if (!found.ok()) return found.status();
    value->array = std::move(*found);
    return {};
  }
  value->is_tuple = true;
  do {
    text.remove_prefix(1);
    SkipSpaces(text);
    if (text.starts_with(')')) break;
    if (depth == 0) return Fail(StatusCode::kCorrupt, "too deeply nested");
    MXC_RT_RETURN_IF_ERROR(
        ParseForm(text, depth - 1, array, &value->items.emplace_back()));
  } while (text.starts_with(','));
  if (!text.starts_with(')')) {
    return Fail(StatusCode::kCorrupt, "the form of a state has no ')'");
  }
  text.remove_prefix(1);
  return {};
}

}  // namespace

StatusOr<StateValue> StateOfForm(
    std::string_view form,
    const std::function<StatusOr<Array>(std::string_view)>& array) {
  StateValue value;
  MXC_RT_RETURN_IF_ERROR(ParseForm(form, 4, array, &value));
  return value;
}

Status CaptureStates(TrainStep& step, Checkpoint& checkpoint) {
  const StateNames states(step.facts(), step.states());
  const TrainFacts& facts = step.facts();
  checkpoint.parameters.clear();
  checkpoint.updater.entries.clear();
  checkpoint.states.clear();
  using Place = StateNames::Place;
  for (size_t i = 0; i < step.states().size(); ++i) {
    const std::string& name = step.states()[i].name;
    const Place place = states.PlaceOf(name);
    if (place == Place::kOptimizer || !step.Saves(i)) continue;
    if (place == Place::kElsewhere) {
      checkpoint.states.push_back({name, View(step, i)});
    } else {
      checkpoint.parameters.push_back(
          {(place == Place::kParameter ? "arg:" : "aux:") + name,
           View(step, i)});
    }
  }
  for (size_t i = 0; i < facts.parameters.size(); ++i) {
    const auto parameter = states.Find(facts.parameters[i]);
    if (parameter && !step.Saves(*parameter)) continue;
    StatusOr<StateValue> value = OwnState(states, facts.parameters[i], step);
    if (!value.ok()) return value.status();
    runtime::UpdaterStates::Entry& entry =
        checkpoint.updater.entries.emplace_back();
    entry.key = static_cast<int64_t>(i);
    entry.value = std::move(*value);
  }
  return {};
}

Status RequireStates(const Checkpoint& checkpoint, const TrainFacts& facts,
                     const std::vector<data::Field>& states) {
  const auto arrays = ArraysByState(checkpoint, facts, states);
  for (const data::Field& field : states) {
    const auto found = arrays.find(field.name);
    if (found == arrays.end()) {
      return Fail(StatusCode::kNotFound,
                  "the checkpoint has no state '%s': it is of another network "
                  "or another optimizer",
                  field.name.c_str());
    }
    const Array& array = found->second;
    if (array.type == field.type && array.shape == field.shape) continue;
    return Fail(StatusCode::kInvalidArgument,
                "the checkpoint is of another network: state '%s' is %s there, "
                "expected %s",
                field.name.c_str(), TypeText(array.type, array.shape).c_str(),
                TypeText(field.type, field.shape).c_str());
  }
  return {};
}

Status RestoreStates(const Checkpoint& checkpoint, TrainStep& step) {
  const std::vector<data::Field>& states = step.states();
  std::vector<data::Field> saved;
  for (size_t i = 0; i < states.size(); ++i) {
    if (step.Saves(i)) saved.push_back(states[i]);
  }
  MXC_RT_RETURN_IF_ERROR(RequireStates(checkpoint, step.facts(), saved));
  const auto arrays = ArraysByState(checkpoint, step.facts(), saved);
  for (size_t i = 0; i < states.size(); ++i) {
    if (!step.Saves(i)) continue;
    const std::span<const std::byte> bytes = arrays.at(states[i].name).bytes();
    std::memcpy(step.State(i).data(), bytes.data(), bytes.size());
  }
  return {};
}

Status LoadParameters(std::span<const NamedArray> arrays, TrainStep& step) {
  const StateNames states(step.facts(), step.states());
  int64_t loaded = 0;
  for (const NamedArray& named : arrays) {
    const std::string name(WithoutPrefix(named.name));
    const std::optional<size_t> index = states.Find(name);
    if (!index) continue;
    const data::Field& field = step.states()[*index];
    const std::span<std::byte> target = step.State(*index);
    if (named.array.shape != field.shape) {
      return Fail(StatusCode::kInvalidArgument,
                  "'%s' has another shape in the network", name.c_str());
    }
    if (named.array.type == field.type) {
      std::memcpy(target.data(), named.array.bytes().data(), target.size());
    } else if (field.type == runtime::ElementType::kF32) {
      ToFloats(named.array.type, named.array.bytes(),
               {reinterpret_cast<float*>(target.data()),
                target.size() / sizeof(float)});
    } else {
      return Fail(StatusCode::kUnsupported,
                  "'%s' has another type in the network", name.c_str());
    }
    ++loaded;
  }
  if (loaded > 0 || arrays.empty()) return {};
  return Fail(StatusCode::kNotFound,
              "none of the %zu arrays is a parameter of the network",
              arrays.size());
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

  void Copy() {
    for (auto& [own, given] : copies_) {
      std::ranges::copy(given.bytes(), own.bytes().begin());
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
  Match match;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const StatusOr<StateValue> own = OwnState(states, parameters[i], step);
    if (!own.ok()) return own.status();
    if (!match.Add(*own, EntryOf(updater, i, parameters[i]))) {
      return Fail(StatusCode::kInvalidArgument,
                  "its state of parameter %zu, '%s', is not what optimizer "
                  "'%s' keeps: %s of the parameter's shape",
                  i, parameters[i].c_str(), step.facts().optimizer.c_str(),
                  states.FormOf(parameters[i]).c_str());
    }
  }
  match.Copy();
  // Copies of parameters are there, too: the first update must not make them.
  if (const auto begun = states.Find("optimizer/begun")) {
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
  }
  return {};
}

}  // namespace mxc::train
