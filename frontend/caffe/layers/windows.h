// SPDX-License-Identifier: Apache-2.0
// What layers with windows share: how a setting gives a number to each axis.
#pragma once

#include <optional>
#include <vector>

#include "frontend/caffe/layer.h"

namespace mxc::caffe {

// Of `pad: 1`, `pad: [1, 2]` or `pad_h: 1 pad_w: 2`, as BaseConvolutionLayer
// reads them: one number counts for all axes.
inline std::vector<int64_t> PerAxis(Layer& layer, const char* what, int axes,
                                    const std::vector<uint32_t>& all,
                                    std::optional<uint32_t> h,
                                    std::optional<uint32_t> w,
                                    int64_t otherwise) {
  const auto count = static_cast<size_t>(axes);
  if (h || w) {
    if (axes != 2) layer.Fail("{}_h and {}_w for {} axes", what, what, axes);
    if (!all.empty()) {
      layer.Fail("both {} and {}_h, {}_w, expected one", what, what, what);
    }
    return {h ? *h : otherwise, w ? *w : otherwise};
  }
  if (all.empty()) return std::vector<int64_t>(count, otherwise);
  if (all.size() == 1) return std::vector<int64_t>(count, all[0]);
  if (all.size() != count) {
    layer.Fail("{} {} for {} axes", all.size(), what, axes);
  }
  return {all.begin(), all.end()};
}

inline std::vector<uint32_t> ListOf(std::optional<uint32_t> value) {
  if (!value) return {};
  return {*value};
}

// Windows over the last axes.
struct Windows {
  std::vector<int64_t> kernel, stride, pad;
};

// Caffe's pooling of a bottom with two spatial axes or one: it rounds up, drops
// a last window that would begin in the padding, and an average divides by the
// window's part within the padded picture.
Value PoolWindows(Layer& layer, Value x, const Windows& windows, bool max,
                  bool round_up);

}  // namespace mxc::caffe
