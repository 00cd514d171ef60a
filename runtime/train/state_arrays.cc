// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/state_arrays.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "runtime/train/snapshot.h"

namespace mxc::train {

using runtime::Array;
using runtime::StateValue;

Array ViewOfState(TrainStep& step, size_t index) {
  const data::Field& field = step.states()[index];
  const auto leave = [](std::byte*) {};
  return {field.type, field.shape,
          std::shared_ptr<std::byte[]>(step.State(index).data(), leave)};
}

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

std::string_view WithoutPrefix(std::string_view name) {
  if (name.starts_with("arg:") || name.starts_with("aux:")) {
    name.remove_prefix(4);
  }
  return name;
}

std::string ParameterOf(const runtime::UpdaterStates::Entry& entry,
                        const TrainFacts& facts) {
  if (const auto* name = std::get_if<std::string>(&entry.key)) {
    return std::ranges::count(facts.parameters, *name) > 0 ? *name : "";
  }
  const int64_t index = std::get<int64_t>(entry.key);
  if (index < 0 || index >= std::ssize(facts.parameters)) return "";
  return facts.parameters[static_cast<size_t>(index)];
}

std::string KeyText(const runtime::UpdaterStates::Entry& entry) {
  if (const auto* name = std::get_if<std::string>(&entry.key)) {
    return "parameter '" + *name + "'";
  }
  return "parameter " + std::to_string(std::get<int64_t>(entry.key));
}

}  // namespace mxc::train
