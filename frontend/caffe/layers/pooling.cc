// SPDX-License-Identifier: Apache-2.0
// Pooling, and pyramids of it. Source: pooling_layer.cpp, spp_layer.cpp of
// BVLC/caffe.
#include <algorithm>

#include "frontend/caffe/layers.h"
#include "frontend/caffe/layers/windows.h"
#include "ir/ops/nn/pooling/pooling.h"

namespace mxc::caffe {
namespace {

int64_t CeilOfQuotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How many windows Caffe has along an axis, rounding up.
int64_t WindowsAlong(int64_t size, int64_t kernel, int64_t stride,
                     int64_t pad) {
  int64_t windows = CeilOfQuotient(size + 2 * pad - kernel, stride) + 1;
  if ((windows - 1) * stride >= size + pad) --windows;
  return windows;
}

Windows ReadWindows(Layer& layer, const PoolingParameter& p) {
  Windows w;
  w.kernel = PerAxis(layer, "kernel", 2, ListOf(p.kernel_size), p.kernel_h,
                     p.kernel_w, 0);
  w.stride =
      PerAxis(layer, "stride", 2, ListOf(p.stride), p.stride_h, p.stride_w, 1);
  w.pad = PerAxis(layer, "pad", 2, ListOf(p.pad), p.pad_h, p.pad_w, 0);
  for (size_t i = 0; i < 2; ++i) {
    if (w.kernel[i] == 0) layer.Fail("no kernel_size");
    if (w.stride[i] == 0) layer.Fail("stride 0");
    if (w.pad[i] >= w.kernel[i]) {
      layer.Fail("pad {} of windows of {}, expected less", w.pad[i],
                 w.kernel[i]);
    }
  }
  return w;
}

void RequireMaxOrAverage(Layer& layer, PoolMethod method) {
  if (method == PoolMethod::kSTOCHASTIC) {
    layer.Fail("stochastic pooling, which Caffe has on GPUs alone");
  }
}

// MXNet rounds up, too, and drops nothing. Caffe drops along both axes, if one
// of them is padded.
Value DropWindowsInPadding(Layer& layer, Value x, Value pooled,
                           const Windows& w) {
  if (std::ranges::count(w.pad, 0) == std::ssize(w.pad)) return pooled;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const int64_t kernel = w.kernel[i], stride = w.stride[i], pad = w.pad[i];
    // The last window begins at pad - kernel + stride - 1 behind the end of the
    // picture at most.
    if (pad + stride <= kernel) continue;
    const int axis = static_cast<int>(i) + 2;
    const int64_t windows =
        WindowsAlong(layer.Extent(x, axis), kernel, stride, pad);
    if (pooled.shape()[axis] > windows) {
      pooled = layer.Slice(pooled, axis, 0, windows);
    }
  }
  return pooled;
}

// One window, where it is larger than the padded picture by less than a stride.
void ClipToPicture(Value x, Windows& w) {
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const int axis = static_cast<int>(i) + 2;
    if (!x.shape().known(axis)) continue;
    const int64_t padded = x.shape()[axis] + 2 * w.pad[i];
    if (w.kernel[i] > padded && w.kernel[i] - padded < w.stride[i]) {
      w.kernel[i] = padded;
    }
  }
}

PoolType TypeOf(bool max) { return max ? PoolType::kMax : PoolType::kAvg; }

}  // namespace

Value PoolWindows(Layer& layer, Value x, const Windows& windows, bool max,
                  bool round_up) {
  Windows w = windows;
  if (round_up) ClipToPicture(x, w);
  const Value pooled = layer.Op<op::Pooling>(
      {x}, {.kernel = w.kernel,
            .stride = w.stride,
            .pad = w.pad,
            .pool_type = TypeOf(max),
            .pooling_convention = round_up ? PoolingConvention::kFull
                                           : PoolingConvention::kValid});
  return round_up ? DropWindowsInPadding(layer, x, pooled, w) : pooled;
}

void ImportPooling(Layer& layer) {
  layer.Expect(1, 1, 2);
  const PoolingParameter& p = OrDefault(layer.param().pooling_param);
  const Value x = layer.Bottom();
  if (layer.RankOf(x) != 4) {
    layer.Fail("a bottom with {} axes, expected 4", layer.RankOf(x));
  }
  if (layer.tops() > 1) {
    layer.Fail(
        "a second top, of where the largest elements lie, which is not "
        "supported");
  }
  RequireMaxOrAverage(layer, p.pool);
  const bool max = p.pool == PoolMethod::kMAX;
  if (p.global_pooling) {
    layer.SetTop(0, layer.Op<op::Pooling>({x}, {.kernel = {1, 1},
                                                .pool_type = TypeOf(max),
                                                .global_pool = true}));
    return;
  }
  const bool round_up =
      p.ceil_mode ? *p.ceil_mode : p.round_mode == RoundMode::kCEIL;
  layer.SetTop(0, PoolWindows(layer, x, ReadWindows(layer, p), max, round_up));
}

// Level i has 2^i windows along each axis. One level alone stays a picture.
void ImportSpp(Layer& layer) {
  constexpr uint32_t kHighest = 16;
  layer.Expect(1, 1);
  const SPPParameter& p = OrDefault(layer.param().spp_param);
  RequireMaxOrAverage(layer, p.pool);
  const Value x = layer.Bottom();
  if (layer.RankOf(x) != 4) {
    layer.Fail("a bottom with {} axes, expected 4", layer.RankOf(x));
  }
  if (p.pyramid_height == 0 || p.pyramid_height > kHighest) {
    layer.Fail("pyramid_height {}, expected 1 to {}", p.pyramid_height,
               kHighest);
  }
  std::vector<Value> levels;
  for (uint32_t level = 0; level < p.pyramid_height; ++level) {
    const int64_t bins = int64_t{1} << level;
    Windows w;
    for (const int axis : {2, 3}) {
      const int64_t size = layer.Extent(x, axis);
      const int64_t kernel = CeilOfQuotient(size, bins);
      const int64_t pad = (kernel * bins - size + 1) / 2;
      if (pad >= kernel) {
        layer.Fail("{} windows along {} elements", bins, size);
      }
      w.kernel.push_back(kernel);
      w.stride.push_back(kernel);
      w.pad.push_back(pad);
    }
    const Value pooled =
        PoolWindows(layer, x, w, p.pool == PoolMethod::kMAX, true);
    if (p.pyramid_height == 1) return layer.SetTop(0, pooled);
    levels.push_back(layer.Op<op::Flatten>({pooled}));
  }
  layer.SetTop(0, layer.Concat(levels, 1));
}

}  // namespace mxc::caffe
