// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/norm/batch_norm.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {
namespace {

class BatchNormBackward {
 public:
  BatchNormBackward(const BatchNormForm& form, GradientBuilder& g)
      : form_(form),
        g_(g),
        data_(g.In(0).shape()),
        axis_(ChannelAxis(form, data_.rank())),
        statistics_(g.In(1).type().dtype) {
    for (int k = 0; k < data_.rank(); ++k) {
      if (k != axis_) others_.push_back(k);
    }
  }

  std::vector<Value> Run() {
    const Value dy = g_.Cast(OutputGradient(), statistics_);
    const Value centred =
        g_.Sub(g_.Cast(g_.In(0), statistics_), AlongData(g_.Out(1)));
    const bool moving = UsesMovingStatistics(form_, g_.training());
    const bool gamma = g_.Needs(1) && !form_.fix_gamma;
    const bool means = g_.Needs(0) && !moving;
    Value sum, product;  // Σ dy, Σ dy · (data − mean)
    if (g_.Needs(2) || means) sum = OverOthers(dy);
    if (gamma || means) product = OverOthers(g_.Mul(dy, centred));

    std::vector<Value> gradients = g_.None();
    if (g_.Needs(0)) {
      Value inner = dy;
      if (means) inner = WithoutMeans(dy, centred, sum, product);
      gradients[0] = g_.Cast(g_.Mul(inner, Scale()), g_.In(0).type().dtype);
    }
    if (gamma) gradients[1] = PerChannel(g_.Mul(product, InverseDeviation()));
    if (g_.Needs(2)) gradients[2] = PerChannel(sum);
    return gradients;
  }

 private:
  Value OutputGradient() {
    if (!form_.relu) return g_.Head();
    return g_.Mul(g_.Head(), g_.Op<op::GreaterScalar>({g_.Out(0)},
                                                      {.scalar = 0}, "passes"));
  }

  // dy − mean(dy) − x̂ · mean(dy · x̂)
  Value WithoutMeans(Value dy, Value centred, Value sum, Value product) {
    const auto cells = static_cast<double>(data_.elements() / data_[axis_]);
    const Value slope =
        g_.Mul(g_.Div(product, cells), g_.Square(InverseDeviation()));
    return g_.Sub(g_.Sub(dy, g_.Div(sum, cells)), g_.Mul(centred, slope));
  }

  Value Scale() {
    if (form_.fix_gamma) return InverseDeviation();
    return g_.Mul(InverseDeviation(), AlongData(g_.In(1)));
  }

  Value InverseDeviation() {
    if (inverse_deviation_) return inverse_deviation_;
    inverse_deviation_ = AlongData(g_.Out(2));
    if (form_.variance_as_is) {
      inverse_deviation_ =
          g_.Div(1, g_.Sqrt(g_.Add(inverse_deviation_, form_.eps)));
    }
    return inverse_deviation_;
  }

  // f[C] as a tensor of data's rank, with C at the channels' axis.
  Value AlongData(Value x) {
    Extents dims(data_.rank(), 1);
    dims[axis_] = data_[axis_];
    return g_.Reshape(x, dims);
  }
  Value PerChannel(Value x) { return g_.Reshape(x, {data_[axis_]}); }
  Value OverOthers(Value x) {
    return others_.empty() ? x : g_.Sum(x, others_, true);
  }

  const BatchNormForm& form_;
  GradientBuilder& g_;
  const Shape data_;
  const int axis_;
  const DType statistics_;
  Extents others_;
  Value inverse_deviation_;
};

}  // namespace

std::vector<Value> BatchNormGradient(const BatchNormForm& form,
                                     GradientBuilder& g) {
  return BatchNormBackward(form, g).Run();
}

}  // namespace mxc
