// SPDX-License-Identifier: Apache-2.0
// mxc_autograd.h for tests.
#pragma once

#include <vector>

#include "tests/ndarray/handles.h"
#include "tools/imperative/mxc_autograd.h"

namespace mxc::test {

// The thread records, and trains where that is said, as long as it lives.
class Recording {
 public:
  explicit Recording(bool recording = true)
      : recording_(mxc_autograd_set_recording(recording ? 1 : 0)) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { mxc_autograd_set_recording(recording_); }

 private:
  const int recording_;
};

// An array and that of its gradient.
struct Marked {
  Marked(const Dims& dims, const std::vector<float>& values,
         mxc_gradient_request request = MXC_GRADIENT_WRITE)
      : array(Make(dims, values)),
        gradient(Make(dims, std::vector<float>(values.size(), -7))) {
    Expect(mxc_autograd_mark(array.get(), gradient.get(), request));
  }
  mxc_ndarray* get() const { return array.get(); }

  NDArray array, gradient;
};

inline mxc_status* Backward(const NDArray& head,
                            mxc_ndarray* head_gradient = nullptr,
                            bool retain = false) {
  mxc_ndarray* const heads[] = {head.get()};
  return mxc_autograd_backward(heads, &head_gradient, 1, retain ? 1 : 0);
}

// d head / d variable, as a new array.
inline NDArray GradientOf(const NDArray& head, mxc_ndarray* variable,
                          bool create_graph = false) {
  mxc_ndarray *const heads[] = {head.get()}, *gradient = nullptr;
  Expect(mxc_autograd_gradient(heads, nullptr, 1, &variable, 1, 1,
                               create_graph ? 1 : 0, &gradient));
  return Own(gradient);
}

}  // namespace mxc::test
