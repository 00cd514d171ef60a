// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "runtime/api/handles.h"
#include "runtime/executor/non_finite.h"

using mxc::runtime::Executor;
using mxc::runtime::Guarded;
using mxc::runtime::NeededArray;
using mxc::runtime::NonFinite;
using mxc::runtime::Status;
using mxc::runtime::StatusCode;
using mxc::runtime::StatusOr;
using mxc::runtime::Tables;

namespace {

// The row of a state, after a check of its name and size, where none runs.
StatusOr<size_t> FindState(const mxc_executor* executor, const char* name,
                           size_t size) {
  MXC_RT_RETURN_IF_ERROR(CheckIdle(*executor->executor));
  const Tables& tables = executor->executor->model().tables();
  const auto states = tables.states();
  for (size_t row = 0; row < states.size(); ++row) {
    if (std::strcmp(tables.Text(states[row].name), name) != 0) continue;
    if (states[row].bytes == size) return row;
    return Fail(StatusCode::kInvalidArgument,
                "'%s' has %llu bytes, but %zu are given", name,
                static_cast<unsigned long long>(states[row].bytes), size);
  }
  return Fail(StatusCode::kNotFound, "no state '%s'; the model has %zu", name,
              states.size());
}

// `action` takes the row of the state.
template <class Action>
mxc_status* WithState(const mxc_executor* executor, const char* name,
                      const void* values, size_t size, Action&& action) {
  return Guarded({{executor, "executor"},
                  {name, "name"},
                  NeededArray(values, size, "values")},
                 [&]() -> Status {
                   const auto state = FindState(executor, name, size);
                   if (!state.ok()) return state.status();
                   action(*state);
                   return {};
                 });
}

}  // namespace

mxc_status* mxc_read_state(const mxc_executor* executor, const char* name,
                           void* values, size_t size) {
  return WithState(executor, name, values, size, [&](size_t row) {
    executor->executor->ReadState(row, values);
  });
}

mxc_status* mxc_write_state(mxc_executor* executor, const char* name,
                            const void* values, size_t size) {
  return WithState(executor, name, values, size, [&](size_t row) {
    executor->executor->WriteState(row, values);
  });
}

mxc_status* mxc_reset_states(mxc_executor* executor) {
  return Guarded({{executor, "executor"}}, [&]() -> Status {
    MXC_RT_RETURN_IF_ERROR(CheckIdle(*executor->executor));
    executor->executor->ResetStates();
    return {};
  });
}

mxc_status* mxc_find_nonfinite(mxc_executor* executor, mxc_nonfinite* found) {
  return Guarded({{executor, "executor"}, {found, "found"}}, [&]() -> Status {
    Executor& e = *executor->executor;
    MXC_RT_RETURN_IF_ERROR(CheckIdle(e));
    MXC_RT_RETURN_IF_ERROR(executor->given.Check(e));
    const auto first = FindNonFinite(e);
    if (!first.ok()) return first.status();
    *found = {};
    if (!first->has_value()) return {};
    const NonFinite& value = **first;
    const Tables& tables = e.model().tables();
    found->tensor = tables.Text(e.buffers()[value.buffer].name);
    found->value = value.value;
    if (value.step) {
      found->step = tables.Text(tables.Steps(e.entry())[*value.step].name);
    }
    return {};
  });
}
