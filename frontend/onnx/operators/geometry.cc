// SPDX-License-Identifier: Apache-2.0
// What reads and writes images at places of its own: grids, regions of interest,
// displaced windows, columns.
#include <algorithm>

#include "frontend/onnx/operators/windows.h"
#include "ir/ops/nn/convolution/modulated_deformable_convolution.h"
#include "ir/ops/nn/detection/roi_align.h"
#include "ir/ops/nn/detection/roi_pooling.h"
#include "ir/ops/nn/spatial/grid_sample.h"
#include "ir/ops/tensor/indexing/scatter_along.h"
#include "ir/ops/tensor/shape/col2im.h"

namespace mxc::onnx {

void ImportGridSample(Call& c) {
  // The names of version 16, then those of version 20.
  const int mode =
      c.OneOf("mode",
              {"bilinear", "nearest", "bicubic", "linear", "nearest", "cubic"},
              0) %
      3;
  const int padding =
      c.OneOf("padding_mode", {"zeros", "border", "reflection"}, 0);
  const bool corners = c.Flag("align_corners");
  const DType dtype = c.DTypeOf(0);
  c.Require(IsFloat(c.DTypeOf(1)), "its grid is of {}",
            ShortName(c.DTypeOf(1)));
  c.Require(mode == 1 || IsFloat(dtype), "{} are interpolated, expected floats",
            ShortName(dtype));
  c.Give(0, c.Op<op::GridSample>({c.In(0), c.In(1)},
                                 {.mode = static_cast<GridMode>(mode),
                                  .padding = static_cast<GridPadding>(padding),
                                  .align_corners = corners}));
}

// theta [N, k, k + 1], size (N, C, d1 … dk) → [N, d1 … dk, k]: theta times the
// coordinates of each cell, the last axis first, and 1.
void ImportAffineGrid(Call& c) {
  const bool corners = c.Flag("align_corners");
  const Extents size = c.NeedInts(1, "size");
  const Shape theta = c.ShapeOf(0);
  const int k = static_cast<int>(size.size()) - 2;
  c.Require((k == 2 || k == 3) && theta == Shape{size[0], k, k + 1},
            "theta {} does not fit size {}", ToString(theta), TupleText(size));
  Extents dims(size.begin() + 2, size.end());
  for (const int64_t extent : dims) {
    c.Require(extent > 0 && extent < 1 << 24 && !(corners && extent == 1),
              "size {} has an extent of {}", TupleText(size), extent);
  }
  const auto cells = CheckedProduct(dims);
  c.Require(cells && *cells <= 1 << 24, "size {} is too large",
            TupleText(size));
  std::vector<float> grid((k + 1) * *cells, 1);
  for (int64_t cell = 0; cell < *cells; ++cell) {
    int64_t rest = cell;
    for (int d = k - 1; d >= 0; --d) {
      const auto at = static_cast<double>(rest % dims[d]);
      const auto extent = static_cast<double>(dims[d]);
      rest /= dims[d];
      grid[(k - 1 - d) * *cells + cell] = static_cast<float>(
          corners ? 2 * at / (extent - 1) - 1 : (2 * at + 1) / extent - 1);
    }
  }
  const DType dtype = c.DTypeOf(0), wide = AccumulateType(dtype);
  const Value base = c.Cast(
      c.Constant(Tensor::FromFloats({k + 1, *cells}, grid), "cells"), wide);
  const Value rows =
      c.Reshape(c.Cast(c.In(0), wide), Shape{size[0] * k, k + 1});
  const Value moved =
      c.Reshape(c.Op<op::Dot>({rows, base}), Shape{size[0], k, *cells});
  dims.insert(dims.begin(), size[0]);
  dims.push_back(k);
  c.Give(0, c.Cast(c.Reshape(c.Transpose(moved, {0, 2, 1}), dims), dtype));
}

namespace {

// The scale of regions, which MXNet wants between 0 and 1: another one is
// applied to them.
Value RegionsScaled(Call& c, Value rois, double& scale) {
  if (scale >= 0 && scale <= 1) return rois;
  const Value images = c.SliceAxis(rois, 1, 0, 1, "images");
  const Value corners = c.Mul(c.SliceAxis(rois, 1, 1, 5, "corners"), scale);
  scale = 1;
  return c.Concat({images, corners}, 1, "rois");
}

}  // namespace

void ImportRoiAlign(Call& c) {
  const bool greatest = c.OneOf("mode", {"avg", "max"}, 0) == 1;
  const int fallback = c.opset() < 16 ? 1 : 0;
  const int shift = c.OneOf("coordinate_transformation_mode",
                            {"half_pixel", "output_half_pixel"}, fallback);
  const int64_t height = c.Int("output_height", 1);
  const int64_t width = c.Int("output_width", 1);
  const int64_t points = c.Int("sampling_ratio", 0);
  double scale = c.Float("spatial_scale", 1);
  const Shape shape = c.ShapeOf(0), rois = c.ShapeOf(1);
  c.Require(shape.rank() == 4 && rois.rank() == 2 && rois[1] == 4 &&
                c.ShapeOf(2) == Shape{rois[0]},
            "data {}, rois {} and batch_indices {} do not fit", ToString(shape),
            ToString(rois), ToString(c.ShapeOf(2)));
  c.Require(height > 0 && width > 0 && points >= 0,
            "output_height {}, output_width {} and sampling_ratio {} cannot be",
            height, width, points);
  const DType dtype = c.DTypeOf(0), wide = AccumulateType(dtype);
  if (rois[0] == 0) {
    return c.GiveEmpty(dtype, Shape{0, shape[1], height, width});
  }
  const Value images = c.Reshape(c.Cast(c.In(2), wide), Shape{rois[0], 1});
  const Value regions = RegionsScaled(
      c, c.Concat({images, c.Cast(c.In(1), wide)}, 1, "rois"), scale);
  const std::vector<Value> operands = {c.Cast(c.In(0), wide), regions};
  const RoiAlignAttrs attrs = {.pooled_size = {height, width},
                               .spatial_scale = scale,
                               .sample_ratio = points,
                               .aligned = shift == 0};
  const Value result = greatest ? c.Op<op::ROIMaxAlign>(operands, attrs)
                                : c.Op<op::ROIAlign>(operands, attrs);
  c.Give(0, c.Cast(result, dtype));
}

void ImportMaxRoiPool(Call& c) {
  const auto pooled = c.Ints("pooled_shape");
  c.Require(pooled && pooled->size() == 2,
            "pooled_shape has to be two numbers");
  double scale = c.Float("spatial_scale", 1);
  const Shape rois = c.ShapeOf(1);
  c.Require(rois.rank() == 2 && rois[1] == 5,
            "rois have shape {}, expected (R, 5)", ToString(rois));
  const Value regions = RegionsScaled(c, c.In(1), scale);
  c.Give(0, c.Op<op::ROIPooling>({c.In(0), regions}, {.pooled_size = *pooled,
                                                      .spatial_scale = scale}));
}

void ImportCenterCropPad(Call& c) {
  const Shape shape = c.ShapeOf(0);
  Extents all;
  for (int d = 0; d < shape.rank(); ++d) all.push_back(d);
  const Extents axes = c.Ints("axes").value_or(all);
  const Extents wanted = c.NeedInts(1, "shape");
  (void)c.Axes(axes, shape.rank());
  c.Require(wanted.size() == axes.size(), "shape {} is not one of {} axes",
            TupleText(wanted), axes.size());
  Extents dims = shape.dims(), begin(shape.rank(), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    c.Require(wanted[k] >= 0 && wanted[k] <= kMaxTensorBytes,
              "shape {} has an extent of {}", TupleText(wanted), wanted[k]);
    dims[c.Axis(axes[k], shape.rank())] = wanted[k];
  }
  const DType dtype = c.DTypeOf(0);
  if (Call::IsEmpty(dims)) return c.GiveEmpty(dtype, dims);
  if (Shape(dims) == shape) return c.Give(0, c.operand(0));
  Value x = c.In(0);
  bool pads = false;
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t more = dims[d] - shape[d];
    if (more < 0) {
      const int64_t first = -more / 2;
      x = c.SliceAxis(x, d, first, first + dims[d]);
    } else if (more > 0) {
      pads = true;
      begin[d] = more / 2;
    }
  }
  if (!pads) return c.Give(0, x);
  if (const auto unfit = Unfit({dtype, Shape(dims)})) {
    c.Refuse("its result has {}", *unfit);
  }
  c.Give(0, c.Overwritten(c.Zeros({dtype, Shape(dims)}), x, begin));
}

// data [N, C·∏block, L] → [N, C, image…]
void ImportCol2Im(Call& c) {
  Extents image = c.NeedInts(1, "image_shape");
  const Extents block = c.NeedInts(2, "block_shape");
  const size_t k = block.size();
  const Extents strides = c.Ints("strides").value_or(Extents(k, 1));
  const Extents dilations = c.Ints("dilations").value_or(Extents(k, 1));
  const Extents pads = c.Ints("pads").value_or(Extents(2 * k, 0));
  c.Require(k >= 1 && k <= 3 && image.size() == k && strides.size() == k &&
                dilations.size() == k && pads.size() == 2 * k,
            "image_shape {}, block_shape {}, strides {}, dilations {} and pads "
            "{} do not fit",
            TupleText(image), TupleText(block), TupleText(strides),
            TupleText(dilations), TupleText(pads));
  constexpr int64_t kMost = 1 << 29;
  const Extents inside = image;
  bool symmetric = true;
  for (size_t d = 0; d < k; ++d) {
    c.Require(pads[d] >= 0 && pads[d] < kMost && pads[d + k] >= 0 &&
                  pads[d + k] < kMost && image[d] > 0 && image[d] < kMost,
              "image_shape {} and pads {} cannot be", TupleText(image),
              TupleText(pads));
    symmetric = symmetric && pads[d] == pads[d + k];
  }
  Extents pad(pads.begin(), pads.begin() + static_cast<int64_t>(k));
  if (!symmetric) {
    for (size_t d = 0; d < k; ++d) image[d] += pads[d] + pads[d + k];
    pad.assign(k, 0);
  }
  const ColumnsAttrs windows = {
      .kernel = block, .stride = strides, .dilate = dilations, .pad = pad};
  Value x = c.Op<op::Col2im>({c.In(0)}, {windows, image});
  if (!symmetric) {
    for (size_t d = 0; d < k; ++d) {
      x = c.SliceAxis(x, static_cast<int>(d) + 2, pads[d], pads[d] + inside[d]);
    }
  }
  c.Give(0, x);
}

// Indices count in the whole of what kernel, strides and pads make of the shape;
// output_shape may leave more room behind.
void ImportMaxUnpool(Call& c) {
  const Shape shape = c.ShapeOf(0);
  const auto kernel = c.Ints("kernel_shape");
  const int k = shape.rank() - 2;
  c.Require(k >= 1 && kernel && static_cast<int>(kernel->size()) == k,
            "kernel_shape does not fit data {}", ToString(shape));
  const Extents strides = c.Ints("strides").value_or(Extents(k, 1));
  const Extents pads = c.Ints("pads").value_or(Extents(2 * k, 0));
  c.Require(static_cast<int>(strides.size()) == k &&
                static_cast<int>(pads.size()) == 2 * k,
            "strides {} and pads {} do not fit data {}", TupleText(strides),
            TupleText(pads), ToString(shape));
  c.Require(c.ShapeOf(1) == shape, "indices have shape {}, data {}",
            ToString(c.ShapeOf(1)), ToString(shape));
  constexpr int64_t kMost = 1 << 24;
  Extents dims = shape.dims();
  for (int d = 0; d < k; ++d) {
    const auto within = [&](int64_t number, int64_t least) {
      c.Require(number >= least && number <= kMost,
                "its kernel, strides, pads or data have a number of {}",
                number);
    };
    within((*kernel)[d], 1);
    within(strides[d], 1);
    within(pads[d], 0);
    within(pads[d + k], 0);
    within(dims[d + 2], 1);
    dims[d + 2] =
        (dims[d + 2] - 1) * strides[d] - pads[d] - pads[d + k] + (*kernel)[d];
    c.Require(dims[d + 2] > 0, "pads {} leave nothing of axis {}",
              TupleText(pads), d + 2);
  }
  const DType dtype = c.DTypeOf(0);
  if (const auto unfit = Unfit({dtype, Shape(dims)})) {
    c.Refuse("its result has {}", *unfit);
  }
  const Shape flat = {Shape(dims).elements()};
  const Shape cells = {shape.elements()};
  const Value filled =
      c.Op<op::ScatterAlong>({c.Zeros({dtype, flat}), c.Reshape(c.In(1), cells),
                              c.Reshape(c.In(0), cells)},
                             {.axis = 0});
  const Value inner = c.Reshape(filled, dims);
  if (!c.Has(2)) return c.Give(0, inner);
  const Extents wanted = c.NeedInts(2, "output_shape");
  bool fits = wanted.size() == dims.size();
  for (size_t d = 0; fits && d < dims.size(); ++d) fits = wanted[d] >= dims[d];
  c.Require(fits, "output_shape {} has no room for {}", TupleText(wanted),
            TupleText(dims));
  if (wanted == dims) return c.Give(0, inner);
  if (const auto unfit = Unfit({dtype, Shape(wanted)})) {
    c.Refuse("its result has {}", *unfit);
  }
  c.Give(0, c.Overwritten(c.Zeros({dtype, Shape(wanted)}), inner,
                          Extents(dims.size(), 0)));
}

// X, W, offset, B, mask
void ImportDeformConv(Call& c) {
  const Shape shape = c.ShapeOf(0), filters = c.ShapeOf(1);
  c.Require(shape.rank() == 4 && filters.rank() == 4,
            "data {} and weights {} have not 4 axes, which alone are supported",
            ToString(shape), ToString(filters));
  const Extents kernel = {filters[2], filters[3]};
  const auto said = c.Ints("kernel_shape");
  c.Require(!said || *said == kernel, "kernel_shape is {}, weights are {}",
            said ? TupleText(*said) : "", ToString(filters));
  const Windows w = WindowsOf(c, kernel, /*pools=*/false);
  const int64_t groups = c.Int("group", 1);
  const int64_t offset_groups = c.Int("offset_group", 1);
  Value x = c.In(0);
  Extents pad = w.before;
  if (!w.symmetric()) {
    x = PadAround(c, x, w.before, w.after, 0);
    pad = {0, 0};
  }
  std::vector<Value> inputs = {x, c.In(2)};
  if (c.Has(4)) {
    inputs.push_back(c.In(4));
  } else {
    Extents dims = c.ShapeOf(2).dims();
    c.Require(dims.size() == 4 && dims[1] % 2 == 0, "offset has shape {}",
              TupleText(dims));
    dims[1] /= 2;
    inputs.push_back(c.Ones({x.type().dtype, Shape(dims)}));
  }
  inputs.push_back(c.In(1));
  if (c.Has(3)) inputs.push_back(c.In(3));
  ModulatedAttrs attrs;
  attrs.kernel = kernel;
  attrs.stride = w.stride;
  attrs.dilate = w.dilation;
  attrs.pad = pad;
  attrs.num_filter = filters[0];
  attrs.num_group = groups;
  attrs.num_deformable_group = offset_groups;
  attrs.no_bias = !c.Has(3);
  c.Give(0, c.Op<op::ModulatedDeformableConvolution>(inputs, attrs));
}

void ImportImageDecoder(Call& c) {
  c.Refuse("pictures are decoded by whoever calls the program, not by it");
}

}  // namespace mxc::onnx
