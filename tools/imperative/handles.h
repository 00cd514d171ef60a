// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of mxc_ndarray.h, and how calls take them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/api/handles.h"
#include "runtime/autograd/autograd.h"
#include "runtime/ndarray/operator_call.h"
#include "tools/imperative/function_graph.h"
#include "tools/imperative/mxc_ndarray.h"
#include "tools/imperative/tape_compiler.h"

struct mxc_ndarray : mxc::runtime::TrackedArray {};

struct mxc_ndarray_op {
  std::shared_ptr<mxc::runtime::CallableOperator> op;
};

namespace mxc {

inline runtime::Status Taken(mxc_status* status) {
  const std::unique_ptr<mxc_status, decltype(&mxc_status_release)> owned(
      status, &mxc_status_release);
  return {static_cast<runtime::StatusCode>(mxc_status_code(status)),
          mxc_status_message(status)};
}

inline runtime::Status CheckHandles(mxc_ndarray* const* handles, size_t count,
                                    const char* name) {
  for (size_t i = 0; i < count; ++i) {
    if (handles[i] != nullptr) continue;
    return Fail(runtime::StatusCode::kInvalidArgument, "'%s[%zu]' is null",
                name, i);
  }
  return {};
}

// Calls with what the caller has given for outputs, and hands out those that were
// made.
template <class Call>
runtime::Status WithOutputs(mxc_ndarray** outputs, size_t count, Call call) {
  std::vector<runtime::TrackedArray> arrays(count);
  for (size_t o = 0; o < count; ++o) {
    if (outputs[o] != nullptr) arrays[o] = *outputs[o];
  }
  // Before anything is called: there is memory for what is handed out.
  std::vector<std::unique_ptr<mxc_ndarray>> made(count);
  for (size_t o = 0; o < count; ++o) {
    if (outputs[o] == nullptr) made[o] = std::make_unique<mxc_ndarray>();
  }
  MXC_RT_RETURN_IF_ERROR(call(arrays));
  for (size_t o = 0; o < count; ++o) {
    if (made[o] != nullptr) outputs[o] = made[o].release();
    static_cast<runtime::TrackedArray&>(*outputs[o]) = arrays[o];
  }
  return {};
}

// One call of whatever can be called.
inline runtime::Status CallWithHandles(
    const std::shared_ptr<runtime::CallableOperator>& op,
    mxc_ndarray* const* inputs, size_t input_count, mxc_ndarray** outputs,
    size_t output_count, bool training) {
  MXC_RT_RETURN_IF_ERROR(CheckHandles(inputs, input_count, "inputs"));
  const std::vector<const runtime::TrackedArray*> given(inputs,
                                                        inputs + input_count);
  return WithOutputs(outputs, output_count,
                     [&](std::vector<runtime::TrackedArray>& made) {
                       return TheAutograd().Call(op, given, made, training);
                     });
}

}  // namespace mxc
