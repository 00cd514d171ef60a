// SPDX-License-Identifier: Apache-2.0
// The convolution that a device's kernel computes, or one of its gradients, said
// in words, so that a library may compute it in the kernel's place:
//
//   y[n, k, o…] = Σ_{c, r…} x[n, c, o·stride + r·dilate − before…] · w[k, c, r…]
//                 (+ bias[k])
//
// with zeros around x. Sums are of f32. It is a kernel's mxc_step.attributes:
// "convolution" and the numbers of Convolution, in their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/number_text.h"

namespace mxc {

struct Convolution {
  static constexpr int64_t kMostAxes = 3;

  // What is computed of what: y of x and w; x of y and w; w of x and y. The step
  // has them as operands 0 and 1, and its only output.
  enum Kind : int64_t { kForward, kOfData, kOfWeight };
  int64_t kind = kForward;

  int64_t axes = 2;  // spatial, 2 or 3
  int64_t groups = 1, images = 1;
  int64_t in = 1, out = 1;  // channels of x and y, all groups'
  // Where elements lie, in elements: images of x and y, or outputs of w; channels;
  // positions along each axis.
  struct Tensor {
    int64_t dtype = 0;  // a type flag of dtype.def
    int64_t outer = 0, channel = 0;
    std::array<int64_t, kMostAxes> position = {};
  } x, w, y;
  struct Axis {
    int64_t x = 1, w = 1, y = 1;  // extents
    int64_t stride = 1, dilate = 1, before = 0, after = 0;
  };
  std::array<Axis, kMostAxes> along = {};
  int64_t bias = 0;       // an operand of f32, dense; 0: none. Of kForward
  int64_t tf32 = 0;       // 1: x, w and y of f32 may be rounded to tf32
  int64_t preferred = 0;  // 1: the library is the choice where there is one

  // Operand 0, operand 1 and the output.
  std::array<const Tensor*, 3> Operands() const {
    switch (kind) {
      case kOfData:
        return {&y, &w, &x};
      case kOfWeight:
        return {&x, &y, &w};
      default:
        return {&x, &w, &y};
    }
  }
  // Its extents: of images and channels, or outputs and channels of a group, and
  // along each axis.
  std::vector<int64_t> ExtentsOf(const Tensor& tensor) const {
    std::vector<int64_t> extents = {images, &tensor == &y ? out : in};
    if (&tensor == &w) extents = {out, in / groups};
    for (size_t i = 0; i < static_cast<size_t>(axes); ++i) {
      const Axis& axis = along[i];
      extents.push_back(&tensor == &x   ? axis.x
                        : &tensor == &w ? axis.w
                                        : axis.y);
    }
    return extents;
  }
  std::vector<int64_t> StridesOf(const Tensor& tensor) const {
    std::vector<int64_t> strides = {tensor.outer, tensor.channel};
    strides.insert(strides.end(), tensor.position.begin(),
                   tensor.position.begin() + axes);
    return strides;
  }
};

// Extents and strides are no larger, nor is where an element lies, else it is
// more than that.
inline constexpr int64_t kMostOfConvolution =
    std::numeric_limits<int32_t>::max();

inline constexpr std::string_view kConvolutionWord = "convolution";

// From a tensor's first element to behind its last one.
inline uint64_t ElementsOf(const Convolution& c,
                           const Convolution::Tensor& tensor) {
  constexpr uint64_t kTooMany = uint64_t{1} << 62;
  const std::vector<int64_t> extents = c.ExtentsOf(tensor);
  const std::vector<int64_t> strides = c.StridesOf(tensor);
  uint64_t last = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    last += static_cast<uint64_t>(extents[i] - 1) *
            static_cast<uint64_t>(strides[i]);
    last = std::min(last, kTooMany);
  }
  return last + 1;
}

template <class C>  // Convolution, const or not
auto ConvolutionNumbers(C& c) {
  std::vector numbers = {&c.kind, &c.axes, &c.groups, &c.images, &c.in, &c.out};
  for (auto* tensor : {&c.x, &c.w, &c.y}) {
    numbers.insert(numbers.end(),
                   {&tensor->dtype, &tensor->outer, &tensor->channel});
    for (auto& position : tensor->position) numbers.push_back(&position);
  }
  for (auto& axis : c.along) {
    numbers.insert(numbers.end(), {&axis.x, &axis.w, &axis.y, &axis.stride,
                                   &axis.dilate, &axis.before, &axis.after});
  }
  numbers.insert(numbers.end(), {&c.bias, &c.tf32, &c.preferred});
  return numbers;
}

inline std::string TextOf(const Convolution& c) {
  return WriteNumbers(kConvolutionWord, ConvolutionNumbers(c));
}

// Nothing where the text says something else, or numbers that cannot be.
inline std::optional<Convolution> ReadConvolution(std::string_view text) {
  Convolution c;
  if (!ReadNumbers(text, kConvolutionWord, kMostOfConvolution,
                   ConvolutionNumbers(c))) {
    return std::nullopt;
  }
  bool possible =
      c.kind <= Convolution::kOfWeight && c.axes >= 2 &&
      c.axes <= Convolution::kMostAxes && c.groups > 0 && c.images > 0 &&
      c.in > 0 && c.out > 0 && c.in % std::max<int64_t>(c.groups, 1) == 0 &&
      c.out % std::max<int64_t>(c.groups, 1) == 0 && c.tf32 <= 1 &&
      c.preferred <= 1 && (c.bias == 0 || c.kind == Convolution::kForward);
  for (const Convolution::Axis& axis : c.along) {
    possible &= axis.x > 0 && axis.w > 0 && axis.y > 0 && axis.stride > 0 &&
                axis.dilate > 0;
  }
  if (!possible) return std::nullopt;
  return c;
}

}  // namespace mxc
