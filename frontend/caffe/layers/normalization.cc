// SPDX-License-Identifier: Apache-2.0
// Means, variances, and factors of axes. Source: batch_norm_layer.cpp,
// scale_layer.cpp, bias_layer.cpp, lrn_layer.cpp, mvn_layer.cpp,
// softmax_layer.cpp of BVLC/caffe; normalize_layer.cpp of its SSD fork.
#include "frontend/caffe/layers.h"
#include "frontend/caffe/layers/windows.h"
#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/nn/norm/batch_norm.h"
#include "ir/ops/nn/norm/l2_normalization.h"
#include "ir/ops/nn/norm/lrn.h"
#include "ir/ops/tensor/create/filled.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc::caffe {
namespace {

std::vector<int64_t> AxesFrom(int first, int rank) {
  std::vector<int64_t> axes;
  for (int axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Value MeanOver(Layer& layer, Value x, const std::vector<int64_t>& axes) {
  return layer.Op<op::Mean>({x}, {.axis = axes, .keepdims = true});
}

// By the statistics of this very batch, as BatchNorm does when it is told so
// where it tests.
Value NormalizeByItself(Layer& layer, Value x, double eps) {
  std::vector<int64_t> axes = AxesFrom(2, layer.RankOf(x));
  axes.insert(axes.begin(), 0);
  const Value centred =
      layer.Op<op::BroadcastSub>({x, MeanOver(layer, x, axes)});
  const Value variance = MeanOver(layer, layer.Op<op::Square>({centred}), axes);
  const Value deviation =
      layer.Op<op::Sqrt>({layer.Scalar<op::PlusScalar>(variance, eps)});
  return layer.Op<op::BroadcastDiv>({centred, deviation});
}

// What a factor or a summand covers of the bottom: its axes from `axis` on.
struct Cover {
  int axis = 0, axes = 0, rank = 0;
};

Cover CoverOf(Layer& layer, int64_t axis, int64_t num_axes) {
  Cover cover;
  cover.rank = layer.RankOf(layer.Bottom());
  cover.axis = layer.Axis(axis, cover.rank);
  const int64_t rest = cover.rank - cover.axis;
  if (num_axes < -1 || num_axes > rest) {
    layer.Fail("num_axes {} from axis {} of a bottom with {} axes", num_axes,
               cover.axis, cover.rank);
  }
  cover.axes = static_cast<int>(num_axes == -1 ? rest : num_axes);
  return cover;
}

Shape ShapeOf(const Cover& cover, Value x) {
  if (cover.axes == 0) return {1};
  Extents dims;
  for (int i = 0; i < cover.axes; ++i)
    dims.push_back(x.shape()[cover.axis + i]);
  return dims;
}

// With an axis for each one of the bottom's behind the first that it covers.
Value Spread(Layer& layer, Value factor, const Cover& cover) {
  const int behind = cover.rank - cover.axis - cover.axes;
  if (behind == 0 || cover.axes == 0) return factor;
  Extents codes(static_cast<size_t>(cover.axes), 0);
  codes.resize(codes.size() + static_cast<size_t>(behind), 1);
  return layer.Reshape(factor, codes);
}

// The second bottom's axes are those that it covers.
Cover CoverOfSecond(Layer& layer, int64_t axis) {
  const int axes = layer.RankOf(layer.Bottom(1));
  const bool one = layer.Bottom(1).shape() == Shape{1};
  Cover cover = CoverOf(layer, axis, 0);
  if (one && layer.Bottom().shape()[cover.axis] != 1) return cover;
  if (cover.axis + axes > cover.rank) {
    layer.Fail("its second bottom has {} axes, from axis {} on there are {}",
               axes, cover.axis, cover.rank - cover.axis);
  }
  cover.axes = axes;
  return cover;
}

// The mean of x² over the square around each element of its own channel, zeros of
// the padding included.
Value MeanSquareAround(Layer& layer, Value x, int64_t size) {
  const Windows windows = {
      {size, size}, {1, 1}, {(size - 1) / 2, (size - 1) / 2}};
  return PoolWindows(layer, layer.Op<op::Square>({x}), windows, false, true);
}

}  // namespace

// Mean and variance alone; factors are a layer of type Scale. A file holds sums
// and what to divide them by (weights.h).
void ImportBatchNorm(Layer& layer) {
  layer.Expect(1, 1);
  const BatchNormParameter& p = OrDefault(layer.param().batch_norm_param);
  const Value x = layer.Bottom();
  const int rank = layer.RankOf(x);
  if (rank < 2) layer.Fail("a bottom with {} axes, expected 2 or more", rank);
  if (!layer.training() && p.use_global_stats && !*p.use_global_stats) {
    if (p.scale_bias) {
      layer.Fail(
          "scale_bias of a batch's own statistics, which is not "
          "supported");
    }
    layer.SetTop(0, NormalizeByItself(layer, x, p.eps));
    return;
  }
  const Shape channels = {x.shape()[1]};
  Value gamma, beta;
  if (p.scale_bias) {
    gamma = layer.Parameter(3, "gamma", channels, {},
                            R"(["constant", {"value": 1}])");
    beta = layer.Parameter(4, "beta", channels, {},
                           R"(["constant", {"value": 0}])");
  } else {
    const Extents shape = {layer.Extent(x, 1)};
    gamma = layer.Op<op::Ones>({}, {.shape = shape});
    beta = layer.Op<op::Zeros>({}, {.shape = shape});
  }
  const Value mean = layer.State("moving_mean", channels);
  const Value variance = layer.State("moving_var", channels);
  BatchNormAttrs attrs;
  attrs.eps = AsWritten(p.eps);
  attrs.momentum = AsWritten(p.moving_average_fraction);
  attrs.fix_gamma = !p.scale_bias;
  attrs.use_global_stats = p.use_global_stats.value_or(false);
  layer.SetTop(
      0, layer.Op<op::BatchNorm>({x, gamma, beta, mean, variance}, attrs));
}

// By a parameter, or by the second bottom.
void ImportScale(Layer& layer) {
  layer.Expect(1, 2);
  const ScaleParameter& p = OrDefault(layer.param().scale_param);
  const Value x = layer.Bottom();
  const bool learned = layer.bottoms() == 1;
  const Cover cover = learned ? CoverOf(layer, p.axis, p.num_axes)
                              : CoverOfSecond(layer, p.axis);
  const Shape shape = ShapeOf(cover, x);
  const Value factor = learned
                           ? layer.Parameter(0, "weight", shape, p.filler,
                                             R"(["constant", {"value": 1}])")
                           : layer.Bottom(1);
  Value y = layer.Op<op::BroadcastMul>({x, Spread(layer, factor, cover)});
  if (p.bias_term) {
    const Value bias =
        layer.Parameter(learned ? 1 : 0, "bias", shape, p.bias_filler,
                        R"(["constant", {"value": 0}])");
    y = layer.Op<op::BroadcastAdd>({y, Spread(layer, bias, cover)});
  }
  layer.SetTop(0, y);
}

void ImportBias(Layer& layer) {
  layer.Expect(1, 2);
  const BiasParameter& p = OrDefault(layer.param().bias_param);
  const Value x = layer.Bottom();
  const bool learned = layer.bottoms() == 1;
  const Cover cover = learned ? CoverOf(layer, p.axis, p.num_axes)
                              : CoverOfSecond(layer, p.axis);
  const Value bias =
      learned ? layer.Parameter(0, "bias", ShapeOf(cover, x), p.filler,
                                R"(["constant", {"value": 0}])")
              : layer.Bottom(1);
  layer.SetTop(0, layer.Op<op::BroadcastAdd>({x, Spread(layer, bias, cover)}));
}

// Within a channel k is 1, whatever is written.
void ImportLrn(Layer& layer) {
  layer.Expect(1, 1);
  const LRNParameter& p = OrDefault(layer.param().lrn_param);
  const Value x = layer.Bottom();
  if (p.local_size % 2 == 0) {
    layer.Fail("local_size {}, expected an odd one", p.local_size);
  }
  if (p.norm_region == NormRegion::kACROSS_CHANNELS) {
    layer.SetTop(0, layer.Op<op::LRN>({x}, {.alpha = AsWritten(p.alpha),
                                            .beta = AsWritten(p.beta),
                                            .knorm = AsWritten(p.k),
                                            .nsize = p.local_size}));
    return;
  }
  if (layer.RankOf(x) != 4) {
    layer.Fail("a bottom with {} axes, expected 4", layer.RankOf(x));
  }
  Value scale = MeanSquareAround(layer, x, p.local_size);
  scale = layer.Scalar<op::MulScalar>(scale, p.alpha);
  scale = layer.Scalar<op::PlusScalar>(scale, 1);
  scale = layer.Scalar<op::PowerScalar>(scale, -p.beta);
  layer.SetTop(0, layer.Op<op::ElemwiseMul>({x, scale}));
}

// eps is added to the deviation, not to the variance.
void ImportMvn(Layer& layer) {
  layer.Expect(1, 1);
  const MVNParameter& p = OrDefault(layer.param().mvn_param);
  const Value x = layer.Bottom();
  const int rank = layer.RankOf(x), first = p.across_channels ? 1 : 2;
  if (rank <= first) {
    layer.Fail("a bottom with {} axes, expected at least {}", rank, first + 1);
  }
  const std::vector<int64_t> axes = AxesFrom(first, rank);
  Value y = layer.Op<op::BroadcastSub>({x, MeanOver(layer, x, axes)});
  if (p.normalize_variance) {
    const Value variance = MeanOver(layer, layer.Op<op::Square>({y}), axes);
    const Value deviation =
        layer.Scalar<op::PlusScalar>(layer.Op<op::Sqrt>({variance}), p.eps);
    y = layer.Op<op::BroadcastDiv>({y, deviation});
  }
  layer.SetTop(0, y);
}

// x / √(Σ x² + eps), times a factor for all channels or for each.
void ImportNormalize(Layer& layer) {
  layer.Expect(1, 1);
  const NormalizeParameter& p = OrDefault(layer.param().norm_param);
  const Value x = layer.Bottom();
  if (layer.RankOf(x) != 4) {
    layer.Fail("a bottom with {} axes, expected 4", layer.RankOf(x));
  }
  const Value unit = layer.Op<op::L2Normalization>(
      {x},
      {.eps = AsWritten(p.eps),
       .mode = p.across_spatial ? NormMode::kInstance : NormMode::kChannel});
  Cover cover{1, p.channel_shared ? 0 : 1, 4};
  const Value factor =
      layer.Parameter(0, "weight", ShapeOf(cover, x), p.scale_filler,
                      R"(["constant", {"value": 1}])");
  layer.SetTop(
      0, layer.Op<op::BroadcastMul>({unit, Spread(layer, factor, cover)}));
}

void ImportSoftmax(Layer& layer) {
  layer.Expect(1, 1);
  const SoftmaxParameter& p = OrDefault(layer.param().softmax_param);
  const int axis = layer.Axis(p.axis, layer.RankOf(layer.Bottom()));
  layer.SetTop(0, layer.Op<op::Softmax>({layer.Bottom()}, {.axis = axis}));
}

}  // namespace mxc::caffe
