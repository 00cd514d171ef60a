// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of mxc_ndarray.h, and how calls take them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "ir/support/result.h"
#include "runtime/api/handles.h"
#include "runtime/ndarray/imperative.h"
#include "tools/imperative/function_graph.h"
#include "tools/imperative/mxc_ndarray.h"

struct mxc_ndarray {
  mxc::runtime::NDArray array;
};

struct mxc_ndarray_op {
  std::shared_ptr<mxc::runtime::CallableOperator> op;
};

namespace mxc {

template <class T>
runtime::StatusOr<T> InStatus(Result<T> result) {
  if (result.ok()) return std::move(*result);
  return runtime::Status(runtime::StatusCode::kInvalidArgument,
                         SentenceOf(result.errors()));
}

inline runtime::StatusOr<std::vector<runtime::NDArray>> ArraysOf(
    mxc_ndarray* const* handles, size_t count, const char* name) {
  std::vector<runtime::NDArray> arrays(count);
  for (size_t i = 0; i < count; ++i) {
    if (handles[i] == nullptr) {
      return Fail(runtime::StatusCode::kInvalidArgument, "'%s[%zu]' is null",
                  name, i);
    }
    arrays[i] = handles[i]->array;
  }
  return arrays;
}

// Calls with the arrays that the caller has given for outputs, and hands out
// those that were made.
template <class Call>
runtime::Status WithOutputs(mxc_ndarray** outputs, size_t count, Call call) {
  std::vector<runtime::NDArray> arrays(count);
  for (size_t o = 0; o < count; ++o) {
    if (outputs[o] != nullptr) arrays[o] = outputs[o]->array;
  }
  // Before anything is called: there is memory for what is handed out.
  std::vector<std::unique_ptr<mxc_ndarray>> made(count);
  for (size_t o = 0; o < count; ++o) {
    if (outputs[o] == nullptr) made[o] = std::make_unique<mxc_ndarray>();
  }
  MXC_RT_RETURN_IF_ERROR(call(arrays));
  for (size_t o = 0; o < count; ++o) {
    if (made[o] == nullptr) continue;
    made[o]->array = arrays[o];
    outputs[o] = made[o].release();
  }
  return {};
}

// One call of whatever can be called.
inline runtime::Status CallWithHandles(
    const std::shared_ptr<runtime::CallableOperator>& op,
    mxc_ndarray* const* inputs, size_t input_count, mxc_ndarray** outputs,
    size_t output_count, bool training) {
  MXC_RT_ASSIGN(const std::vector<runtime::NDArray> given,
                ArraysOf(inputs, input_count, "inputs"));
  return WithOutputs(
      outputs, output_count, [&](std::vector<runtime::NDArray>& made) {
        return runtime::Imperative::Get().Call(op, given, made, training);
      });
}

}  // namespace mxc
