// SPDX-License-Identifier: Apache-2.0
// Losses. Where a label is an input of the network that trains they are MXNet's
// loss heads, whose outputs are predictions; else they are written out, and the
// output is the loss, one number. A training divides the gradients by the batch
// (1 / N), so what a head adds up over the batch is Caffe's mean, and what is
// one number is multiplied by N. Source: *_loss_layer.cpp of BVLC/caffe.
#include <utility>

#include "frontend/caffe/layers.h"
#include "ir/ops/nn/activation/activation.h"
#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/nn/loss/make_loss_head.h"
#include "ir/ops/nn/loss/regression_output.h"
#include "ir/ops/nn/loss/softmax_output.h"
#include "ir/ops/nn/loss/svm_output.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/one_hot.h"
#include "ir/ops/tensor/indexing/pick.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc::caffe {
namespace {

// Less than that counts as that much where a logarithm is taken.
constexpr double kLeastProbability = 1e-20;

bool IsInput(Value value) {
  return value.node->kind == Node::Kind::kVariable &&
         value.node->role == VariableRole::kInput;
}

double WeightOf(Layer& layer, int top, double otherwise) {
  const auto& weights = layer.param().loss_weight;
  const auto at = static_cast<size_t>(top);
  return at < weights.size() ? static_cast<double>(weights[at]) : otherwise;
}

// The number of elements of each sample.
double ElementsOfSample(Layer& layer, Value x) {
  const Shape& shape = layer.ShapeOf(x);
  return static_cast<double>(shape.elements()) / static_cast<double>(shape[0]);
}

// What a sum over all places is divided by.
enum class Divisor { kPlaces, kValid, kBatch, kNothing };

Divisor DivisorOf(const LossParameter& p, Divisor otherwise) {
  if (p.normalization) {
    switch (*p.normalization) {
      case NormalizationMode::kFULL:
        return Divisor::kPlaces;
      case NormalizationMode::kVALID:
        return p.ignore_label ? Divisor::kValid : Divisor::kPlaces;
      case NormalizationMode::kBATCH_SIZE:
        return Divisor::kBatch;
      case NormalizationMode::kNONE:
        return Divisor::kNothing;
    }
  }
  if (p.normalize) {
    if (!*p.normalize) return Divisor::kBatch;
    return p.ignore_label ? Divisor::kValid : Divisor::kPlaces;
  }
  if (otherwise == Divisor::kPlaces && p.ignore_label) return Divisor::kValid;
  return otherwise;
}

// 1 where the label counts; none where all do.
Value Mask(Layer& layer, Value label, const LossParameter& p) {
  if (!p.ignore_label) return {};
  return layer.Scalar<op::NotEqualScalar>(label, *p.ignore_label);
}

// Σ terms, of which there is one for each place, divided.
Value Divided(Layer& layer, Value terms, Value mask, Divisor divisor) {
  if (mask) terms = layer.Op<op::ElemwiseMul>({terms, mask});
  const Shape& shape = layer.ShapeOf(terms);
  const Value sum = layer.SumFrom(terms, 0);
  switch (divisor) {
    case Divisor::kNothing:
      return sum;
    case Divisor::kValid:
      return layer.Op<op::ElemwiseDiv>(
          {sum, layer.Scalar<op::MaximumScalar>(layer.SumFrom(mask, 0), 1)});
    case Divisor::kBatch:
      return layer.Scalar<op::DivScalar>(sum, static_cast<double>(shape[0]));
    case Divisor::kPlaces:
      break;
  }
  return layer.Scalar<op::DivScalar>(sum,
                                     static_cast<double>(shape.elements()));
}

Value MeanOverBatch(Layer& layer, Value terms, double factor = 1) {
  const auto batch = static_cast<double>(layer.Extent(terms, 0));
  return layer.Scalar<op::MulScalar>(layer.SumFrom(terms, 0), factor / batch);
}

// The label as [d…] of the terms, whatever axes of one element it has.
Value LabelLike(Layer& layer, Value label, const Shape& places) {
  if (label.shape() == places) return label;
  return layer.Reshape(label, places.dims());
}

Shape Without(const Shape& shape, int axis) {
  Extents dims = shape.dims();
  dims.erase(dims.begin() + axis);
  return dims;
}

// MXNet divides what has places beside the batch by these, unless it counts the
// labels that are valid.
SoftmaxOutputAttrs SoftmaxLossAttrs(Layer& layer, Value x) {
  const LossParameter& p = OrDefault(layer.param().loss_param);
  const bool many = layer.RankOf(x) > 2;
  const double weight = WeightOf(layer, 0, 1);
  SoftmaxOutputAttrs attrs = {.multi_output = many};
  if (p.ignore_label) {
    attrs.use_ignore = true;
    attrs.ignore_label = *p.ignore_label;
  }
  double factor = weight;
  const auto places = [&] {
    return ElementsOfSample(layer, x) / static_cast<double>(layer.Extent(x, 1));
  };
  switch (DivisorOf(p, Divisor::kPlaces)) {
    case Divisor::kValid:
      attrs.normalization = SoftmaxNormalization::kValid;
      factor *= static_cast<double>(layer.Extent(x, 0));
      break;
    case Divisor::kBatch:
      if (many) factor *= places();
      break;
    case Divisor::kNothing:
      factor *= static_cast<double>(layer.Extent(x, 0)) * places();
      break;
    case Divisor::kPlaces:
      break;
  }
  attrs.grad_scale = factor;
  return attrs;
}

// −log of what the softmax gives the label, at each place.
Value CrossEntropy(Layer& layer, Value x, Value label, int axis) {
  const Value log = layer.Op<op::LogSoftmax>({x}, {.axis = axis});
  const Value picked = layer.Op<op::Pick>({log, label}, {.axis = axis});
  return layer.Op<op::Negative>({picked});
}

// Which sign the score of a class has in a hinge: -1 for that of the label.
Value SignsOf(Layer& layer, Value label, int64_t classes) {
  const Value hot = layer.Op<op::OneHot>({label}, {.depth = classes});
  return layer.Scalar<op::RminusScalar>(layer.Scalar<op::MulScalar>(hot, 2), 1);
}

Value Flat(Layer& layer, Value x) {
  return layer.RankOf(x) == 2 ? x : layer.Reshape(x, {0, -1});
}

// A head of regression, if there is one to be: prediction and a label that the
// network is fed.
template <class Id>
bool ImportRegression(Layer& layer) {
  if (!layer.training()) return false;
  Value x = layer.Bottom(0), label = layer.Bottom(1);
  if (IsInput(x) && std::is_same_v<Id, op::LinearRegressionOutput>) {
    std::swap(x, label);
  }
  if (!IsInput(label) || IsInput(x)) return false;
  const double factor = WeightOf(layer, 0, 1) * ElementsOfSample(layer, x);
  layer.SetTop(0, layer.Op<Id>({x, label}, {.grad_scale = factor}));
  return true;
}

}  // namespace

void SetLoss(Layer& layer, int i, Value value) {
  const double weight = WeightOf(layer, i, 1);
  if (!layer.training()) return layer.SetTop(i, value);
  if (weight == 0) return layer.SetTop(i, layer.Op<op::BlockGrad>({value}));
  layer.SetTop(i, layer.Op<op::MakeLossHead>(
                      {value}, {.grad_scale = weight * layer.Batch()}));
}

// The output is what the softmax gives, as that of MXNet's SoftmaxOutput is.
void ImportSoftmaxWithLoss(Layer& layer) {
  layer.Expect(2, 2, 2);
  const Value x = layer.Bottom(0);
  const int axis =
      layer.Axis(OrDefault(layer.param().softmax_param).axis, layer.RankOf(x));
  if (axis == 1) {
    Value label = layer.Bottom(1);
    if (layer.RankOf(x) == 2 && label.shape().known() &&
        label.shape().rank() > 1 && label.shape() != x.shape()) {
      label = LabelLike(layer, label, {layer.Extent(x, 0)});
    }
    const Value y =
        layer.Op<op::SoftmaxOutput>({x, label}, SoftmaxLossAttrs(layer, x));
    if (!layer.training()) {
      layer.Note("its output is the softmax, not the loss");
    }
    for (int i = 0; i < layer.tops(); ++i) layer.SetTop(i, y);
    if (layer.tops() == 0) layer.SetTop(0, y);
    return;
  }
  const LossParameter& p = OrDefault(layer.param().loss_param);
  const Value label =
      LabelLike(layer, layer.Bottom(1), Without(layer.ShapeOf(x), axis));
  const Value mask = Mask(layer, label, p);
  const Value terms = CrossEntropy(layer, x, label, axis);
  SetLoss(layer, 0,
          Divided(layer, terms, mask, DivisorOf(p, Divisor::kPlaces)));
  if (layer.tops() > 1) {
    layer.SetTop(1, layer.Op<op::Softmax>({x}, {.axis = axis}));
  }
}

// Σ (a - b)² / 2N
void ImportEuclideanLoss(Layer& layer) {
  layer.Expect(2, 2);
  if (ImportRegression<op::LinearRegressionOutput>(layer)) return;
  const Value a = layer.Bottom(0);
  const Value b = LabelLike(layer, layer.Bottom(1), layer.ShapeOf(a));
  const Value square =
      layer.Op<op::Square>({layer.Op<op::ElemwiseSub>({a, b})});
  SetLoss(layer, 0, MeanOverBatch(layer, square, 0.5));
}

// log(1 + exp(x)) - label · x, which is the cross entropy of the sigmoid.
void ImportSigmoidCrossEntropyLoss(Layer& layer) {
  layer.Expect(2, 2);
  const LossParameter& p = OrDefault(layer.param().loss_param);
  const Divisor divisor = DivisorOf(p, Divisor::kBatch);
  const bool plain = !p.ignore_label && divisor == Divisor::kBatch;
  if (plain && ImportRegression<op::LogisticRegressionOutput>(layer)) return;
  const Value x = layer.Bottom(0);
  const Value label = LabelLike(layer, layer.Bottom(1), layer.ShapeOf(x));
  const Value soft =
      layer.Op<op::Activation>({x}, {.act_type = ActType::kSoftRelu});
  const Value terms =
      layer.Op<op::ElemwiseSub>({soft, layer.Op<op::ElemwiseMul>({x, label})});
  SetLoss(layer, 0, Divided(layer, terms, Mask(layer, label, p), divisor));
}

// Σ max(0, 1 ± score), or its square, over the batch.
void ImportHingeLoss(Layer& layer) {
  layer.Expect(2, 2);
  const bool square =
      OrDefault(layer.param().hinge_loss_param).norm == HingeNorm::kL2;
  const Value x = Flat(layer, layer.Bottom(0));
  const Value label = layer.Bottom(1);
  if (layer.training() && IsInput(label)) {
    layer.SetTop(
        0, layer.Op<op::SVMOutput>(
               {x, label}, {.margin = 1,
                            .regularization_coefficient = WeightOf(layer, 0, 1),
                            .use_linear = !square}));
    return;
  }
  const Value signs = SignsOf(
      layer, LabelLike(layer, label, {layer.Extent(x, 0)}), layer.Extent(x, 1));
  const Value reach =
      layer.Scalar<op::PlusScalar>(layer.Op<op::ElemwiseMul>({signs, x}), 1);
  Value terms = layer.Op<op::Relu>({reach});
  if (square) terms = layer.Op<op::Square>({terms});
  SetLoss(layer, 0, MeanOverBatch(layer, terms));
}

// Of probabilities, not of scores.
void ImportMultinomialLogisticLoss(Layer& layer) {
  layer.Expect(2, 2);
  const Value x = Flat(layer, layer.Bottom(0));
  const Value label = LabelLike(layer, layer.Bottom(1), {layer.Extent(x, 0)});
  const Value picked = layer.Op<op::Pick>({x, label}, {.axis = 1});
  const Value log = layer.Op<op::Log>(
      {layer.Scalar<op::MaximumScalar>(picked, kLeastProbability)});
  SetLoss(layer, 0, MeanOverBatch(layer, log, -1));
}

// Of scores; a row of the third bottom says what each class counts where its
// label is the row's.
void ImportInfogainLoss(Layer& layer) {
  layer.Expect(2, 3, 2);
  const InfogainLossParameter& p = OrDefault(layer.param().infogain_loss_param);
  if (layer.bottoms() < 3) {
    layer.Fail("a matrix in the file '{}', expected as third bottom", p.source);
  }
  const Value x = layer.Bottom(0);
  const int axis = layer.Axis(p.axis, layer.RankOf(x));
  if (axis != 1 || layer.RankOf(x) > 2) {
    layer.Fail("classes on axis {} of {}, expected on the last of two", axis,
               layer.RankOf(x));
  }
  const LossParameter& loss = OrDefault(layer.param().loss_param);
  const int64_t classes = layer.Extent(x, 1);
  const Value label = LabelLike(layer, layer.Bottom(1), {layer.Extent(x, 0)});
  const Value matrix = layer.Reshape(layer.Bottom(2), {classes, classes});
  const Value probabilities = layer.Op<op::Softmax>({x}, {.axis = 1});
  const Value log = layer.Op<op::Log>(
      {layer.Scalar<op::MaximumScalar>(probabilities, kLeastProbability)});
  const Value rows = layer.Op<op::Take>({matrix, label}, {.axis = 0});
  const Value terms = layer.Op<op::Negative>(
      {layer.SumFrom(layer.Op<op::ElemwiseMul>({rows, log}), 1)});
  SetLoss(layer, 0,
          Divided(layer, terms, Mask(layer, label, loss),
                  DivisorOf(loss, Divisor::kPlaces)));
  if (layer.tops() > 1) layer.SetTop(1, probabilities);
}

// Pairs that are alike (1) are to be near, the others apart by the margin.
void ImportContrastiveLoss(Layer& layer) {
  // So that the root has a slope at 0.
  constexpr double kLeastSquare = 1e-12;
  layer.Expect(3, 3);
  const ContrastiveLossParameter& p =
      OrDefault(layer.param().contrastive_loss_param);
  const Value a = Flat(layer, layer.Bottom(0)),
              b = Flat(layer, layer.Bottom(1));
  const Value alike = LabelLike(layer, layer.Bottom(2), {layer.Extent(a, 0)});
  const Value square = layer.SumFrom(
      layer.Op<op::Square>({layer.Op<op::ElemwiseSub>({a, b})}), 1);
  Value near = square;
  if (!p.legacy_version) {
    near = layer.Op<op::Sqrt>(
        {layer.Scalar<op::MaximumScalar>(square, kLeastSquare)});
  }
  Value apart =
      layer.Op<op::Relu>({layer.Scalar<op::RminusScalar>(near, p.margin)});
  if (!p.legacy_version) apart = layer.Op<op::Square>({apart});
  const Value unlike = layer.Scalar<op::RminusScalar>(alike, 1);
  const Value terms =
      layer.Op<op::ElemwiseAdd>({layer.Op<op::ElemwiseMul>({alike, square}),
                                 layer.Op<op::ElemwiseMul>({unlike, apart})});
  SetLoss(layer, 0, MeanOverBatch(layer, terms, 0.5));
}

}  // namespace mxc::caffe
