// SPDX-License-Identifier: Apache-2.0
// Functions of each element. Source: *_layer.cpp of BVLC/caffe.
#include <cmath>

#include "frontend/caffe/layers.h"
#include "ir/ops/nn/activation/activation.h"
#include "ir/ops/nn/activation/dropout.h"
#include "ir/ops/nn/activation/leaky_relu.h"
#include "ir/ops/tensor/elementwise/clip.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc::caffe {
namespace {

void ImportActivation(Layer& layer, ActType type) {
  layer.Expect(1, 1);
  layer.SetTop(0,
               layer.Op<op::Activation>({layer.Bottom()}, {.act_type = type}));
}

// shift + scale · x
Value Affine(Layer& layer, Value x, double scale, double shift) {
  if (scale != 1) x = layer.Scalar<op::MulScalar>(x, scale);
  if (shift != 0) x = layer.Scalar<op::PlusScalar>(x, shift);
  return x;
}

// ln of the base; 1 where it is e.
double LogOfBase(Layer& layer, float base) {
  if (base == -1) return 1;
  if (!(base > 0))
    layer.Fail("base {}, expected more than 0, or -1 for e", base);
  return std::log(static_cast<double>(base));
}

}  // namespace

void ImportRelu(Layer& layer) {
  const float slope = OrDefault(layer.param().relu_param).negative_slope;
  if (slope == 0) return ImportActivation(layer, ActType::kRelu);
  layer.Expect(1, 1);
  layer.SetTop(0, layer.Op<op::LeakyReLU>({layer.Bottom()},
                                          {.act_type = LeakyType::kLeaky,
                                           .slope = AsWritten(slope)}));
}

void ImportRelu6(Layer& layer) {
  layer.Expect(1, 1);
  layer.SetTop(0,
               layer.Op<op::Clip>({layer.Bottom()}, {.a_min = 0, .a_max = 6}));
}

void ImportSigmoid(Layer& layer) { ImportActivation(layer, ActType::kSigmoid); }
void ImportTanH(Layer& layer) { ImportActivation(layer, ActType::kTanh); }
void ImportBnll(Layer& layer) { ImportActivation(layer, ActType::kSoftRelu); }

void ImportElu(Layer& layer) {
  layer.Expect(1, 1);
  const float alpha = OrDefault(layer.param().elu_param).alpha;
  layer.SetTop(0, layer.Op<op::LeakyReLU>({layer.Bottom()},
                                          {.act_type = LeakyType::kElu,
                                           .slope = AsWritten(alpha)}));
}

void ImportPRelu(Layer& layer) {
  layer.Expect(1, 1);
  const PReLUParameter& p = OrDefault(layer.param().prelu_param);
  const Shape shape = {p.channel_shared ? 1 : Shape::kUnknownDim};
  const Value gamma = layer.Parameter(0, "gamma", shape, p.filler,
                                      R"(["constant", {"value": 0.25}])");
  layer.SetTop(0, layer.Op<op::LeakyReLU>({layer.Bottom(), gamma},
                                          {.act_type = LeakyType::kPrelu}));
}

void ImportAbsVal(Layer& layer) {
  layer.Expect(1, 1);
  layer.SetTop(0, layer.Op<op::Abs>({layer.Bottom()}));
}

// (shift + scale · x) ^ power
void ImportPower(Layer& layer) {
  layer.Expect(1, 1);
  const PowerParameter& p = OrDefault(layer.param().power_param);
  Value x = Affine(layer, layer.Bottom(), p.scale, p.shift);
  if (p.power == 2) {
    x = layer.Op<op::Square>({x});
  } else if (p.power != 1) {
    x = layer.Scalar<op::PowerScalar>(x, p.power);
  }
  layer.SetTop(0, x);
}

// base ^ (shift + scale · x)
void ImportExp(Layer& layer) {
  layer.Expect(1, 1);
  const ExpParameter& p = OrDefault(layer.param().exp_param);
  const double log = LogOfBase(layer, p.base);
  layer.SetTop(0, layer.Op<op::Exp>({Affine(layer, layer.Bottom(),
                                            log * p.scale, log * p.shift)}));
}

// The logarithm of shift + scale · x.
void ImportLog(Layer& layer) {
  layer.Expect(1, 1);
  const ExpParameter& p = OrDefault(layer.param().log_param);
  const double log = LogOfBase(layer, p.base);
  if (log == 0) layer.Fail("base 1 has no logarithm");
  const Value y =
      layer.Op<op::Log>({Affine(layer, layer.Bottom(), p.scale, p.shift)});
  layer.SetTop(0, Affine(layer, y, 1 / log, 0));
}

void ImportThreshold(Layer& layer) {
  layer.Expect(1, 1);
  const float threshold = OrDefault(layer.param().threshold_param).threshold;
  layer.SetTop(0, layer.Scalar<op::GreaterScalar>(layer.Bottom(), threshold));
}

void ImportDropout(Layer& layer) {
  layer.Expect(1, 1);
  const DropoutParameter& p = OrDefault(layer.param().dropout_param);
  if (!p.scale_train) {
    layer.Fail(
        "scale_train false, of a fork that scales when it tests, which "
        "is not supported");
  }
  layer.SetTop(0, layer.Op<op::Dropout>({layer.Bottom()},
                                        {.p = AsWritten(p.dropout_ratio)}));
}

void ImportClip(Layer& layer) {
  layer.Expect(1, 1);
  const ClipParameter& p = OrDefault(layer.param().clip_param);
  if (!p.min || !p.max) layer.Fail("no min or no max");
  layer.SetTop(
      0, layer.Op<op::Clip>({layer.Bottom()}, {.a_min = AsWritten(*p.min),
                                               .a_max = AsWritten(*p.max)}));
}

// x · sigmoid(beta · x)
void ImportSwish(Layer& layer) {
  layer.Expect(1, 1);
  const float beta = OrDefault(layer.param().swish_param).beta;
  const Value x = layer.Bottom();
  const Value gate = layer.Op<op::Sigmoid>({Affine(layer, x, beta, 0)});
  layer.SetTop(0, layer.Op<op::ElemwiseMul>({x, gate}));
}

}  // namespace mxc::caffe
