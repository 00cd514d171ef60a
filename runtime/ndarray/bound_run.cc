// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/bound_run.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace mxc::runtime {
namespace {

bool OverlapsAny(const NDArray& array, ArrayRefs others) {
  return std::any_of(others.begin(), others.end(), [&](const NDArray* other) {
    return Overlap(array, *other);
  });
}

}  // namespace

bool Overlap(const NDArray& a, const NDArray& b) {
  return a.chunk() == b.chunk() && a.offset() < b.offset() + b.type().bytes() &&
         b.offset() < a.offset() + a.type().bytes();
}

Status RunBound(Executor& executor, ArrayRefs inputs, ArrayRefs outputs,
                ArrayRefs states) {
  for (const ArrayRefs arrays : {inputs, outputs}) {
    for (const NDArray* array : arrays)
      MXC_RT_RETURN_IF_ERROR(array->Require());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_copied = OverlapsAny(*inputs[i], states);
    executor.BindInput(i, is_copied ? nullptr : inputs[i]->data());
    if (!is_copied) continue;
    std::memcpy(executor.InputStorage(i), inputs[i]->data(),
                inputs[i]->type().bytes());
  }
  const auto is_late = [&](const NDArray& output) {
    return OverlapsAny(output, inputs) || OverlapsAny(output, states);
  };
  bool has_late = false;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const bool late = is_late(*outputs[o]);
    has_late |= late;
    executor.BindOutput(o, late ? nullptr : outputs[o]->data());
  }
  MXC_RT_RETURN_IF_ERROR(executor.Run());
  for (size_t o = 0; has_late && o < outputs.size(); ++o) {
    if (!is_late(*outputs[o])) continue;
    std::memcpy(outputs[o]->data(), executor.OutputStorage(o),
                outputs[o]->type().bytes());
  }
  return {};
}

}  // namespace mxc::runtime
