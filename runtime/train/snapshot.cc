// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/snapshot.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
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

// "arg:" or "aux:" before the name; empty where the state is no parameter.
std::string NameInFile(const StateNames& states, std::string_view state) {
  using Place = StateNames::Place;
  const std::string name(state);
  const Place place = states.PlaceOf(name);
  if (place == Place::kParameter) return "arg:" + name;
  if (place == Place::kAuxiliary) return "aux:" + name;
  return "";
}

// What a parameter's state is in the network, whose states are `view`.
StatusOr<StateValue> OwnState(const StateNames& states,
                              const std::string& parameter,
                              const std::function<Array(size_t)>& view) {
  return StateOfForm(
      states.FormOf(parameter), [&](std::string_view name) -> StatusOr<Array> {
        const std::string full = parameter + "/" + std::string(name);
        if (const auto index = states.Find(full)) return view(*index);
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

// "fc1_weight" of an entry's key; empty: the network has no such parameter.
std::string ParameterOf(const runtime::UpdaterStates::Entry& entry,
                        const TrainFacts& facts) {
  if (const auto* name = std::get_if<std::string>(&entry.key)) {
    return std::ranges::count(facts.parameters, *name) > 0 ? *name : "";
  }
  const int64_t index = std::get<int64_t>(entry.key);
  if (index < 0 || index >= std::ssize(facts.parameters)) return "";
  return facts.parameters[static_cast<size_t>(index)];
}

// "parameter 3", "parameter 'fc1_weight'"
std::string KeyText(const runtime::UpdaterStates::Entry& entry) {
  if (const auto* name = std::get_if<std::string>(&entry.key)) {
    return "parameter '" + *name + "'";
  }
  return "parameter " + std::to_string(std::get<int64_t>(entry.key));
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
    return found == collected.end() ? View(step, index) : found->second;
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
          Array view = View(step, index);
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
