// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/snapshot.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "runtime/train/state_arrays.h"
#include "runtime/train/state_names.h"

namespace mxc::train {
namespace {

using runtime::Array;
using runtime::NamedArray;
using runtime::StateValue;

// "arg:" or "aux:" before the name; empty where the state is no parameter.
std::string NameInFile(const StateNames& states, std::string_view state) {
  using Place = StateNames::Place;
  const std::string name(state);
  const Place place = states.PlaceOf(name);
  if (place == Place::kParameter) return "arg:" + name;
  if (place == Place::kAuxiliary) return "aux:" + name;
  return "";
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

// The arrays of a checkpoint under the names of states.
struct ArraysByState {
  std::map<std::string, Array> arrays;
  // Those of them that lie in the checkpoint's pieces.
  std::map<std::string, const PiecedArray*> pieced;
  // "'fc0_weight'", "an optimizer's state of parameter 7": the network has no
  // such thing.
  std::vector<std::string> homeless;

  ArraysByState(const Checkpoint& checkpoint, const TrainFacts& facts,
                const std::vector<data::Field>& fields) {
    const StateNames states(facts, fields);
    for (const NamedArray& named : checkpoint.parameters) {
      const std::string name(WithoutPrefix(named.name));
      if (!states.Find(name) && !facts.elsewhere.contains(name)) {
        homeless.push_back("'" + name + "'");
      }
      arrays[name] = named.array;
    }
    for (const NamedArray& named : checkpoint.averages) {
      arrays[AverageOf(WithoutPrefix(named.name))] = named.array;
    }
    for (const NamedArray& named : checkpoint.states) {
      arrays[named.name] = named.array;
    }
    for (const auto& entry : checkpoint.updater.entries) {
      AddEntry(entry, facts, states);
    }
    if (checkpoint.pieces == nullptr) return;
    for (const PiecedArray& pieced_array : checkpoint.pieces->arrays()) {
      const std::string name(WithoutPrefix(pieced_array.name));
      if (!states.Find(name)) homeless.push_back("'" + name + "'");
      arrays[name] = {pieced_array.type, pieced_array.shape, nullptr};
      pieced[name] = &pieced_array;
    }
  }

 private:
  void AddEntry(const runtime::UpdaterStates::Entry& entry,
                const TrainFacts& facts, const StateNames& states) {
    const std::vector<Array> values = FlattenState(entry.value);
    const std::string parameter = ParameterOf(entry, facts);
    if (facts.elsewhere.contains(parameter)) return;
    std::vector<std::string> names;
    if (!parameter.empty()) names = NamesOfForm(states.FormOf(parameter));
    if (values.size() > names.size()) {
      homeless.push_back(
          "an optimizer's state of " +
          (parameter.empty() ? KeyText(entry) : "'" + parameter + "'"));
    }
    for (size_t k = 0; k < values.size() && k < names.size(); ++k) {
      arrays[parameter + "/" + names[k]] = values[k];
    }
  }
};

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

// Behind the states of the step stand those that it has collected of others.
Status CaptureStates(TrainStep& step, Checkpoint& checkpoint, bool shared) {
  std::vector<data::Field> fields = step.states();
  const size_t own_count = fields.size();
  const StateNames own_states(step.facts(), step.states());
  std::map<size_t, Array> collected;  // by index
  for (const NamedArray& named : step.collected()) {
    const auto own = own_states.Find(named.name);
    collected.emplace(own.value_or(fields.size()), named.array);
    if (own) continue;
    fields.push_back({named.name, named.array.type, named.array.shape});
  }
  const StateNames states(step.facts(), fields);
  const auto saves = [&](size_t index) {
    return index >= own_count ||
           (step.Saves(index) && (shared || !step.Shares(index)));
  };
  // Of what the optimizer keeps for a parameter, all is shared or nothing.
  const auto is_elsewhere = [&](const std::string& parameter) {
    const auto names = NamesOfForm(states.FormOf(parameter));
    return std::ranges::any_of(names, [&](const std::string& name) {
      const auto index = states.Find(parameter + "/" + name);
      return index && !saves(*index);
    });
  };
  const auto view = [&](size_t index) {
    const auto found = collected.find(index);
    return found == collected.end() ? ViewOfState(step, index) : found->second;
  };
  const TrainFacts& facts = step.facts();
  checkpoint.parameters.clear();
  checkpoint.averages.clear();
  checkpoint.updater.entries.clear();
  checkpoint.states.clear();
  using Place = StateNames::Place;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = fields[i].name;
    if (states.PlaceOf(name) == Place::kOptimizer || !saves(i)) continue;
    const std::string own = NameInFile(states, name);
    const std::string averaged = NameInFile(states, AveragedBy(name));
    if (!own.empty()) {
      checkpoint.parameters.push_back({own, view(i)});
    } else if (!averaged.empty()) {
      checkpoint.averages.push_back({averaged, view(i)});
    } else {
      checkpoint.states.push_back({name, view(i)});
    }
  }
  for (size_t i = 0; i < facts.parameters.size(); ++i) {
    const auto parameter = states.Find(facts.parameters[i]);
    if (parameter && !saves(*parameter)) continue;
    if (is_elsewhere(facts.parameters[i])) continue;
    if (!states.IsUpdated(facts.parameters[i])) continue;
    StatusOr<StateValue> value = OwnState(states, facts.parameters[i], view);
    if (!value.ok()) return value.status();
    runtime::UpdaterStates::Entry& entry =
        checkpoint.updater.entries.emplace_back();
    entry.key = static_cast<int64_t>(i);
    entry.value = std::move(*value);
  }
  return {};
}

Status RequireStates(const Checkpoint& checkpoint, const TrainFacts& facts,
                     const std::vector<data::Field>& states,
                     const std::function<bool(size_t)>& wanted) {
  const ArraysByState given(checkpoint, facts, states);
  for (size_t i = 0; i < states.size(); ++i) {
    if (wanted && !wanted(i)) continue;
    const data::Field& field = states[i];
    const auto found = given.arrays.find(field.name);
    if (found == given.arrays.end()) {
      return Fail(StatusCode::kNotFound,
                  "the checkpoint has no state '%s': it is of another network "
                  "or optimizer, or other parameters were fixed",
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
  if (given.homeless.empty()) return {};
  return Fail(StatusCode::kInvalidArgument,
              "the checkpoint has %s, which the network does not keep: it is "
              "of another network or optimizer, or other parameters were "
              "fixed",
              given.homeless.front().c_str());
}

namespace {

// Those that are `required`, and those `taken` that are there.
Status Restore(const Checkpoint& checkpoint, TrainStep& step,
               const std::function<bool(size_t)>& required,
               const std::function<bool(size_t)>& taken) {
  const std::vector<data::Field>& states = step.states();
  MXC_RT_RETURN_IF_ERROR(
      RequireStates(checkpoint, step.facts(), states, required));
  const ArraysByState given(checkpoint, step.facts(), states);
  for (size_t i = 0; i < states.size(); ++i) {
    const auto array = given.arrays.find(states[i].name);
    if (!taken(i) || array == given.arrays.end() ||
        array->second.type != states[i].type ||
        array->second.shape != states[i].shape) {
      continue;  // one that need not be there
    }
    if (const auto pieced = given.pieced.find(states[i].name);
        pieced != given.pieced.end()) {
      const std::span<std::byte> state = step.State(i);
      for (const auto& [begin, size] : step.Own(i)) {
        checkpoint.pieces->Copy(*pieced->second, begin,
                                state.subspan(begin, size));
      }
      step.FilledOwn(i);
      continue;
    }
    const std::span<const std::byte> bytes = array->second.bytes();
    std::memcpy(step.State(i).data(), bytes.data(), bytes.size());
    step.Filled(i);
  }
  return {};
}

}  // namespace

Status RestoreStates(const Checkpoint& checkpoint, TrainStep& step) {
  return Restore(
      checkpoint, step, [&](size_t index) { return step.Requires(index); },
      [&](size_t index) { return step.Saves(index); });
}

Status RestoreShared(const Checkpoint& checkpoint, TrainStep& step) {
  const auto shares = [&](size_t index) { return step.Shares(index); };
  return Restore(checkpoint, step, shares, shares);
}

}  // namespace mxc::train
