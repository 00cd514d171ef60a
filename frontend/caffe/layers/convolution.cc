// SPDX-License-Identifier: Apache-2.0
// Convolution, Deconvolution, Im2col and what forks call depthwise. Source:
// base_conv_layer.cpp, im2col_layer.cpp of BVLC/caffe.
#include "frontend/caffe/layers.h"
#include "frontend/caffe/layers/windows.h"
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/ops/nn/convolution/deconvolution.h"
#include "ir/ops/tensor/shape/columns.h"

namespace mxc::caffe {
namespace {

struct Convolved {
  Windows windows;
  std::vector<int64_t> dilation;
  int64_t outputs = 0, group = 1;
};

// What slides over the picture, whatever it computes there.
Convolved ReadSliding(Layer& layer, const ConvolutionParameter& p) {
  const int rank = layer.RankOf(layer.Bottom());
  if (layer.Axis(p.axis, rank) != 1) {
    layer.Fail("axis {}, expected 1: batches, then channels", p.axis);
  }
  const int axes = rank - 2;
  if (axes < 1 || axes > 3) {
    layer.Fail("a bottom with {} axes, expected 3 to 5", rank);
  }
  Convolved c;
  c.windows.kernel =
      PerAxis(layer, "kernel", axes, p.kernel_size, p.kernel_h, p.kernel_w, 0);
  c.windows.stride =
      PerAxis(layer, "stride", axes, p.stride, p.stride_h, p.stride_w, 1);
  c.windows.pad = PerAxis(layer, "pad", axes, p.pad, p.pad_h, p.pad_w, 0);
  c.dilation = PerAxis(layer, "dilation", axes, p.dilation, {}, {}, 1);
  for (const int64_t extent : c.windows.kernel) {
    if (extent == 0) layer.Fail("no kernel_size");
  }
  return c;
}

Convolved ReadConvolution(Layer& layer) {
  const ConvolutionParameter& p = OrDefault(layer.param().convolution_param);
  Convolved c = ReadSliding(layer, p);
  c.outputs = p.num_output;
  c.group = p.group;
  if (c.outputs == 0) layer.Fail("no num_output");
  if (c.group == 0 || c.outputs % c.group != 0) {
    layer.Fail("num_output {} in {} groups", c.outputs, c.group);
  }
  return c;
}

// The layer's filters slide over each of its bottoms.
template <class Id>
void ImportFilters(Layer& layer, const Convolved& c) {
  const ConvolutionParameter& p = OrDefault(layer.param().convolution_param);
  typename AttrsOf<Id>::type attrs;
  attrs.kernel = c.windows.kernel;
  attrs.stride = c.windows.stride;
  attrs.dilate = c.dilation;
  attrs.pad = c.windows.pad;
  attrs.num_filter = c.outputs;
  attrs.num_group = c.group;
  attrs.no_bias = !p.bias_term;
  const int rank = layer.RankOf(layer.Bottom());
  std::vector<Value> inputs = {
      {}, layer.Parameter(0, "weight", Shape::OfRank(rank), p.weight_filler)};
  if (p.bias_term) {
    inputs.push_back(
        layer.Parameter(1, "bias", Shape{c.outputs}, p.bias_filler));
  }
  for (int i = 0; i < layer.bottoms(); ++i) {
    inputs[0] = layer.Bottom(i);
    layer.SetTop(i, layer.Op<Id>(inputs, attrs));
  }
}

void RequireSameTops(Layer& layer) {
  layer.Expect(1, -1, -1);
  if (layer.tops() != layer.bottoms()) {
    layer.Fail("{} tops of {} bottoms, expected as many", layer.tops(),
               layer.bottoms());
  }
}

}  // namespace

void ImportConvolution(Layer& layer) {
  RequireSameTops(layer);
  ImportFilters<op::Convolution>(layer, ReadConvolution(layer));
}

// One filter, or some, for each channel, whatever `group` says.
void ImportDepthwise(Layer& layer) {
  RequireSameTops(layer);
  Convolved c = ReadConvolution(layer);
  c.group = layer.Extent(layer.Bottom(), 1);
  ImportFilters<op::Convolution>(layer, c);
}

void ImportDeconvolution(Layer& layer) {
  RequireSameTops(layer);
  ImportFilters<op::Deconvolution>(layer, ReadConvolution(layer));
}

// (N, C·kernel, height, width): a column for each place.
void ImportIm2col(Layer& layer) {
  layer.Expect(1, 1);
  const Convolved c =
      ReadSliding(layer, OrDefault(layer.param().convolution_param));
  const Value columns =
      layer.Op<op::Im2col>({layer.Bottom()}, {.kernel = c.windows.kernel,
                                              .stride = c.windows.stride,
                                              .dilate = c.dilation,
                                              .pad = c.windows.pad});
  Extents shape = {0, 0};
  for (size_t i = 0; i < c.windows.kernel.size(); ++i) {
    const int64_t size = layer.Extent(layer.Bottom(), static_cast<int>(i) + 2);
    const int64_t reach = c.dilation[i] * (c.windows.kernel[i] - 1) + 1;
    shape.push_back(
        (size + 2 * c.windows.pad[i] - reach) / c.windows.stride[i] + 1);
  }
  layer.SetTop(0, layer.Reshape(columns, shape));
}

}  // namespace mxc::caffe
