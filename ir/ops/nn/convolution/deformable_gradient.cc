// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/convolution/deformable_gradient.h"

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/indexing/gathering.h"
#include "ir/ops/tensor/linalg/batch_dot.h"

namespace mxc {
namespace {

// The gradient of data. N samples, C channels in D groups of S that share
// offsets, K cells of the kernel, L output positions.
class DataGradient {
 public:
  DataGradient(const DeformableAttrs& a, bool modulated, GradientBuilder& g)
      : a_(a),
        g_(g),
        modulated_(modulated),
        data_(g.In(0).shape()),
        output_(g.Out().shape()),
        type_(g.In(0).type().dtype),
        wide_(type_ == DType::kF64 ? DType::kF64 : DType::kF32),
        cells_(a.kernel[0] * a.kernel[1]),
        positions_(output_[2] * output_[3]) {}

  Value Make() {
    const Value columns = Columns();
    const Axis y = AxisOf(0), x = AxisOf(1);
    std::vector<Value> corners;
    for (const int dy : {0, 1}) {
      for (const int dx : {0, 1})
        corners.push_back(Corner(columns, y, x, dy, dx));
    }
    return g_.Cast(g_.Reshape(g_.AddAll(corners, "corners"), data_), type_);
  }

 private:
  // Where the cells lie along one axis of the image: [N, D, 1, K, L].
  struct Axis {
    int64_t extent;
    Value low;     // whole
    Value weight;  // of the next cell
  };

  int64_t groups() const { return a_.num_deformable_group; }
  int64_t shared() const { return data_[1] / groups(); }
  Value Number(double value) { return g_.Scalar(value, wide_); }
  Value Input(int i) { return g_.Cast(g_.In(i), wide_); }

  // What arrives for each sampled value: [N, D, S, K, L].
  Value Columns() {
    const int64_t n = data_[0], groups = a_.num_group;
    const int64_t rows = data_[1] / groups * cells_;
    const int64_t filters = a_.num_filter / groups;
    const Value weight = g_.BroadcastTo(
        g_.Reshape(Input(modulated_ ? 3 : 2), {1, groups, filters, rows}),
        {n, groups, filters, rows});
    const Value head = g_.Reshape(g_.Cast(g_.Head(), wide_),
                                  {n * groups, filters, positions_});
    const Value columns = g_.Op<op::BatchDot>(
        {g_.Reshape(weight, {n * groups, filters, rows}), head},
        {.transpose_a = true}, "columns");
    const Value all =
        g_.Reshape(columns, {n, this->groups(), shared(), cells_, positions_});
    if (!modulated_) return all;
    return g_.Mul(
        all, g_.Reshape(Input(2), {n, this->groups(), 1, cells_, positions_}));
  }

  // The places of the kernel's cells along axis d without offsets: [K, L].
  Value Regular(int d) {
    const int64_t stride = a_.strides()[d], dilate = a_.dilates()[d];
    std::vector<float> places;
    for (int64_t cell = 0; cell < cells_; ++cell) {
      const int64_t along = d ? cell % a_.kernel[1] : cell / a_.kernel[1];
      for (int64_t at = 0; at < positions_; ++at) {
        const int64_t out = d ? at % output_[3] : at / output_[3];
        places.push_back(
            static_cast<float>(out * stride + along * dilate - a_.pads()[d]));
      }
    }
    return g_.Cast(
        g_.Constant(Tensor::FromFloats({1, 1, 1, cells_, positions_}, places),
                    d ? "columns_without" : "rows_without"),
        wide_);
  }

  Axis AxisOf(int d) {
    const Shape by_axis = {data_[0], groups(), cells_, 2, positions_};
    const Value offset =
        g_.Reshape(g_.SliceAxis(g_.Reshape(Input(1), by_axis), 3, d, d + 1),
                   {data_[0], groups(), 1, cells_, positions_});
    const Value at = g_.Add(offset, Regular(d));
    const Value low = g_.Op<op::Floor>({at});
    return {data_[2 + d], low, g_.Sub(at, low)};
  }

  // 1 where low ≤ index < high, for whole numbers, else 0.
  Value Within(Value index, int64_t high) {
    return g_.Mul(g_.Greater(index, Number(-0.5)),
                  g_.Greater(Number(static_cast<double>(high) - 0.5), index));
  }

  Value Clamped(Value index, int64_t extent) {
    const Value least = g_.Maximum(index, Number(0));
    const double last = static_cast<double>(extent - 1);
    return g_.Neg(g_.Maximum(g_.Neg(least), Number(-last)));
  }

  // The factor of the cell `next` cells behind the low one. MXNet's two
  // operators differ at the border: see DeformableMeaning.
  Value Factor(const Axis& axis, int next) {
    const Value weight = next ? axis.weight : g_.Sub(1.0, axis.weight);
    const Value index = modulated_ && next ? g_.Add(axis.low, 1.0) : axis.low;
    return g_.Mul(weight, Within(index, axis.extent));
  }

  Value Place(const Axis& axis, int next) {
    return Clamped(next ? g_.Add(axis.low, 1.0) : axis.low, axis.extent);
  }

  // What one of the four cells of each position gets, in an image: [N, C, H·W].
  Value Corner(Value columns, const Axis& y, const Axis& x, int dy, int dx) {
    const Shape each = columns.shape();
    const Shape flat = {data_[0], data_[1], cells_ * positions_};
    const Value values = g_.Mul(columns, g_.Mul(Factor(y, dy), Factor(x, dx)));
    const Value place = g_.Add(
        g_.Mul(Place(y, dy), static_cast<double>(x.extent)), Place(x, dx));
    const Value index =
        g_.Reshape(g_.BroadcastTo(g_.Cast(place, DType::kI32), each), flat);
    return ScatterAdd(g_, g_.Reshape(values, flat), index,
                      {data_[0], data_[1], y.extent * x.extent}, 2,
                      IndexMode::kClip);
  }

  const DeformableAttrs& a_;
  GradientBuilder& g_;
  bool modulated_;
  Shape data_, output_;
  DType type_, wide_;
  int64_t cells_, positions_;
};

}  // namespace

std::vector<Value> DeformableGradients(const DeformableAttrs& a, bool modulated,
                                       GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) gradients[0] = DataGradient(a, modulated, g).Make();
  for (int i = 1; i < g.inputs(); ++i) {
    if (g.Needs(i)) gradients[i] = MeaningGradient(g, i);
  }
  return gradients;
}

}  // namespace mxc
