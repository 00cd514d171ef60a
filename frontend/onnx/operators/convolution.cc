// SPDX-License-Identifier: Apache-2.0
// Convolutions and their transposes.
#include <algorithm>

#include "frontend/onnx/operators/windows.h"
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/ops/nn/convolution/deconvolution.h"

namespace mxc::onnx {
namespace {

Extents KernelOf(Call& c, int input = 1) {
  const Shape& weight = c.ShapeOf(input);
  c.Require(weight.rank() >= 3 && weight.rank() <= 5,
            "its weight has {} axes, expected 3 to 5", weight.rank());
  const Extents kernel(weight.dims().begin() + 2, weight.dims().end());
  for (const int64_t size : kernel) {
    c.Require(size > 0 && size <= (int64_t{1} << 31), "its kernel is {}",
              TupleText(kernel));
  }
  if (const auto stated = c.Ints("kernel_shape")) {
    c.Require(*stated == kernel, "kernel_shape is {}, but the weight has {}",
              TupleText(*stated), TupleText(kernel));
  }
  return kernel;
}

}  // namespace

// Pads of two sizes become a frame around the data.
Value Convolved(Call& c, int weight_input, Value x, Value weight, Value bias) {
  Windows w = WindowsOf(c, KernelOf(c, weight_input), /*pools=*/false);
  if (!w.symmetric()) {
    x = PadAround(c, x, w.before, w.after, 0);
    w.before.assign(w.kernel.size(), 0);
  }
  ConvolutionAttrs attrs;
  attrs.kernel = w.kernel;
  attrs.stride = w.stride;
  attrs.dilate = w.dilation;
  attrs.pad = w.before;
  attrs.num_filter = weight.shape()[0];
  attrs.num_group = c.Int("group", 1);
  attrs.no_bias = !bias;
  std::vector<Value> inputs = {x, weight};
  if (bias) inputs.push_back(bias);
  return c.Op<op::Convolution>(inputs, attrs);
}

void ImportConv(Call& c) {
  c.Give(0, Convolved(c, 1, c.In(0), c.In(1), c.Has(2) ? c.In(2) : Value()));
}

// The whole result of the transpose, cut or continued with zeros: what pads,
// output_padding and output_shape leave of it.
void ImportConvTranspose(Call& c) {
  const Shape data = c.In(0).shape(), weight = c.In(1).shape();
  const Extents kernel = KernelOf(c);
  const size_t count = kernel.size();
  c.Require(data.rank() == static_cast<int>(count) + 2,
            "data has {} axes, expected {}", data.rank(), count + 2);
  const Extents stride = WindowEntries(c, "strides", count, 1, 1);
  const Extents dilation = WindowEntries(c, "dilations", count, 1, 1);
  const Extents more = WindowEntries(c, "output_padding", count, 0, 0);
  const Extents pads = WindowEntries(c, "pads", 2 * count, 0, 0);
  const bool shaped = c.HasAttribute("output_shape");
  Extents asked = c.Ints("output_shape").value_or(Extents());
  if (asked.size() == count + 2) asked.erase(asked.begin(), asked.begin() + 2);
  c.Require(!shaped || asked.size() == count,
            "output_shape {} has not {} "
            "entries",
            TupleText(asked), count);
  for (const int64_t extent : asked) {
    c.Require(extent >= 1 && extent <= kMaxTensorBytes,
              "output_shape {} has the extent {}", TupleText(asked), extent);
  }
  enum { kNotSet, kUpper, kLower, kValid };
  const int same = c.OneOf(
      "auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}, kNotSet);
  Extents before, after;
  for (size_t d = 0; d < count; ++d) {
    const int64_t extent = data[static_cast<int>(d) + 2];
    c.Require(stride[d] <= kMaxTensorBytes / extent, "a stride is {}",
              stride[d]);
    const int64_t whole =
        stride[d] * (extent - 1) + dilation[d] * (kernel[d] - 1) + 1;
    int64_t length = 0, first = same == kValid ? 0 : pads[d];
    if (shaped) {
      length = asked[d];
    } else if (same == kUpper || same == kLower) {
      length = extent * stride[d];
    } else {
      const int64_t last = same == kValid ? 0 : pads[d + count];
      length = whole + more[d] - first - last;
    }
    if (shaped || same == kUpper || same == kLower) {
      const int64_t total = std::max<int64_t>(0, whole + more[d] - length);
      first = same == kUpper ? total / 2 : total - total / 2;
    }
    c.Require(length > 0, "its result has no elements along axis {}", d + 2);
    before.push_back(-first);
    after.push_back(length - (whole - first));
  }
  const int64_t group = c.Int("group", 1);
  c.Require(group >= 1 && group <= kMaxTensorBytes / weight[1],
            "group is {}, its weight has the shape {}", group,
            ToString(weight));
  DeconvolutionAttrs attrs;
  attrs.kernel = kernel;
  attrs.stride = stride;
  attrs.dilate = dilation;
  attrs.num_filter = weight[1] * group;
  attrs.num_group = group;
  // What Deconvolution says itself, where it can.
  bool direct = true;
  Extents pad, adj;
  for (size_t d = 0; d < count; ++d) {
    pad.push_back(-before[d]);
    adj.push_back(after[d] - before[d]);
    direct = direct && pad[d] >= 0 && adj[d] >= 0 && adj[d] < stride[d];
  }
  c.Require(!c.Has(2) || c.ShapeOf(2) == Shape{weight[1] * group},
            "its bias has the shape {}, expected one entry for each of {} "
            "channels",
            c.Has(2) ? ToString(c.ShapeOf(2)) : "", weight[1] * group);
  // Cells that adj adds are biased, too; zeros of a frame would not be.
  std::vector<Value> inputs = {c.In(0), c.In(1)};
  if (direct) {
    if (c.Has(2)) inputs.push_back(c.In(2));
    attrs.no_bias = !c.Has(2);
    attrs.pad = pad;
    attrs.adj = adj;
    return c.Give(0, c.Op<op::Deconvolution>(inputs, attrs));
  }
  attrs.no_bias = true;
  Value y =
      PadAround(c, c.Op<op::Deconvolution>(inputs, attrs), before, after, 0);
  if (c.Has(2)) {
    Extents dims(data.rank(), 1);
    dims[1] = weight[1] * group;
    y = c.Add(y, c.Reshape(c.In(2), dims));
  }
  c.Give(0, y);
}

}  // namespace mxc::onnx
