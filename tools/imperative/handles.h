// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of mxc_ndarray.h, and how calls take them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/api/handles.h"
#include "runtime/autograd/autograd.h"
#include "runtime/ndarray/operator_call.h"
#include "runtime/ndarray/short_list.h"
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

// New handles, released unless somebody keeps them.
class HandleList {
 public:
  explicit HandleList(size_t most) : handles_(most) {}
  HandleList(const HandleList&) = delete;
  HandleList& operator=(const HandleList&) = delete;
  ~HandleList() {
    for (mxc_ndarray* handle : handles_.all()) delete handle;
  }

  mxc_ndarray* Make() {
    handles_.Add(new mxc_ndarray);
    return handles_[handles_.size() - 1];
  }
  void Keep() { handles_.Clear(); }

 private:
  runtime::ShortList<mxc_ndarray*> handles_;
};

// Calls with the caller's outputs; new handles, for those that are null, are handed
// out if nothing fails.
template <class Call>
runtime::Status WithOutputs(mxc_ndarray** outputs, size_t count, Call call) {
  runtime::ShortList<runtime::TrackedArray*> arrays(count);
  HandleList made(count);
  for (size_t o = 0; o < count; ++o) {
    arrays.Add(outputs[o] != nullptr ? outputs[o] : made.Make());
  }
  MXC_RT_RETURN_IF_ERROR(call(arrays.all()));
  made.Keep();
  for (size_t o = 0; o < count; ++o) {
    outputs[o] = static_cast<mxc_ndarray*>(arrays[o]);
  }
  return {};
}

// One call of whatever can be called.
inline runtime::Status CallWithHandles(
    const std::shared_ptr<runtime::CallableOperator>& op,
    mxc_ndarray* const* inputs, size_t input_count, mxc_ndarray** outputs,
    size_t output_count, bool training) {
  MXC_RT_RETURN_IF_ERROR(CheckHandles(inputs, input_count, "inputs"));
  runtime::ShortList<const runtime::TrackedArray*> given(input_count);
  for (size_t i = 0; i < input_count; ++i) given.Add(inputs[i]);
  return WithOutputs(
      outputs, output_count, [&](std::span<runtime::TrackedArray* const> made) {
        return TheAutograd().Call(op, given.all(), made, training);
      });
}

}  // namespace mxc
