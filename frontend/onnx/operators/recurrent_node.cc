// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>

#include "frontend/onnx/operators/recurrent.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc::onnx {
namespace {

// What a known activation has where the file says nothing; NaN: it must say.
struct CellActivationRow {
  const char* name;
  int values;  // that it takes: alpha, beta
  double alpha, beta;
};
constexpr double kMustSay = NAN;
constexpr CellActivationRow kCellActivations[] = {
    {"affine", 2, kMustSay, kMustSay},
    {"elu", 1, 1, 0},
    {"hardsigmoid", 2, 0.2, 0.5},
    {"leakyrelu", 1, 0.01, 0},
    {"relu", 0, 0, 0},
    {"scaledtanh", 2, kMustSay, kMustSay},
    {"sigmoid", 0, 0, 0},
    {"softplus", 0, 0, 0},
    {"softsign", 0, 0, 0},
    {"tanh", 0, 0, 0},
    {"thresholdedrelu", 1, kMustSay, 0},
};

bool IsAllZero(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    if (tensor.At(i) != 0) return false;
  }
  return true;
}

}  // namespace

RecurrentNode::RecurrentNode(Call& call, Cell cell) : c_(call), cell_(cell) {
  ReadAttributes();
  ReadInputs();
}

void RecurrentNode::ReadAttributes() {
  const int direction =
      c_.OneOf("direction", {"forward", "reverse", "bidirectional"}, 0);
  reversed_ = direction == 1;
  directions_ = direction == 2 ? 2 : 1;
  const int64_t layout = c_.Int("layout", 0);
  c_.Require(layout == 0 || layout == 1, "layout is {}, expected 0 or 1",
             layout);
  batch_first_ = layout == 1;
  if (c_.HasAttribute("clip")) {
    clip_ = c_.Float("clip");
    c_.Require(*clip_ >= 0, "clip is {}, expected a positive number", *clip_);
  }
  if (cell_ == Cell::kLstm) coupled_ = c_.Flag("input_forget");
  if (cell_ == Cell::kGru) after_ = c_.Flag("linear_before_reset");
  if (c_.opset() < 7) c_.Ignore("output_sequence");
  ReadActivations();
}

void RecurrentNode::ReadActivations() {
  std::vector<std::string> names;
  if (const auto given = c_.Strings("activations")) {
    names = *given;
  } else {
    for (int64_t d = 0; d < directions_; ++d) {
      if (cell_ != Cell::kRnn) names.emplace_back("Sigmoid");
      names.emplace_back("Tanh");
      if (cell_ == Cell::kLstm) names.emplace_back("Tanh");
    }
  }
  const auto count = static_cast<size_t>(directions_ * activations_of_cell());
  c_.Require(names.size() == count, "it has {} activations, expected {}",
             names.size(), count);
  const auto alphas =
      c_.Floats("activation_alpha").value_or(std::vector<float>());
  const auto betas =
      c_.Floats("activation_beta").value_or(std::vector<float>());
  size_t alpha = 0, beta = 0;  // the next of them
  for (std::string& name : names) {
    CellActivation activation = {.name = name};
    std::ranges::transform(name, activation.name.begin(), [](char letter) {
      return static_cast<char>(
          std::tolower(static_cast<unsigned char>(letter)));
    });
    const auto row = std::ranges::find(kCellActivations, activation.name,
                                       &CellActivationRow::name);
    c_.Require(row != std::end(kCellActivations),
               "activation '{}' is not known", name.substr(0, 100));
    activation.alpha = Taken(row->values > 0, alphas, alpha, row->alpha, name);
    activation.beta = Taken(row->values > 1, betas, beta, row->beta, name);
    activations_.push_back(std::move(activation));
  }
}

double RecurrentNode::Taken(bool takes, const std::vector<float>& given,
                            size_t& next, double fallback,
                            const std::string& name) {
  if (!takes) return 0;
  if (next < given.size()) return static_cast<double>(given[next++]);
  // ONNX Runtime takes 0, with which nothing but zeros would come out.
  c_.Require(!std::isnan(fallback),
             "activation {} needs values of activation_alpha and "
             "activation_beta, which are not all given",
             name);
  return fallback;
}

void RecurrentNode::ReadInputs() {
  x_ = c_.In(0);
  w_ = c_.In(1);
  r_ = c_.In(2);
  c_.Require(x_.shape().rank() == 3, "X has {} axes, expected 3",
             x_.shape().rank());
  if (batch_first_) x_ = c_.Transpose(x_, {1, 0, 2});
  dtype_ = x_.type().dtype;
  c_.Require(IsFloat(dtype_), "X is of {}, expected floats", MxnetName(dtype_));
  steps_ = x_.shape()[0];
  batch_ = x_.shape()[1];
  c_.Require(r_.shape().rank() == 3 && r_.shape()[2] <= 1 << 20,
             "R has shape {}, expected {} times [{} · hidden, hidden]",
             ToString(r_.shape()), directions_, gates());
  hidden_ = r_.shape()[2];
  const int64_t asked = c_.Int("hidden_size", hidden_);
  c_.Require(asked == hidden_, "hidden_size is {}, but R has shape {}", asked,
             ToString(r_.shape()));
  const int64_t rows = gates() * hidden_;
  Expect("W", w_, {directions_, rows, x_.shape()[2]});
  Expect("R", r_, {directions_, rows, hidden_});
  if (c_.Has(3)) Expect("B", bias_ = c_.In(3), {directions_, 2 * rows});
  ReadLengths();
  first_hidden_ = State(5, "initial_h");
  if (cell_ != Cell::kLstm) return;
  first_cell_ = State(6, "initial_c");
  if (!c_.Has(7)) return;
  Expect("P", peepholes_ = c_.In(7), {directions_, 3 * hidden_});
  const auto known = c_.Known(7);
  if (known && !IsTrainable(7) && IsAllZero(*known)) peepholes_ = {};
}

void RecurrentNode::Expect(const char* what, Value value, const Shape& shape) {
  c_.Require(value.shape() == shape, "{} has shape {}, expected {}", what,
             ToString(value.shape()), ToString(shape));
  c_.Require(value.type().dtype == dtype_, "{} is of {}, but X is of {}", what,
             MxnetName(value.type().dtype), MxnetName(dtype_));
}

void RecurrentNode::ReadLengths() {
  if (!c_.Has(4)) return;
  c_.Require(c_.ShapeOf(4) == Shape{batch_} && !IsFloat(c_.DTypeOf(4)),
             "sequence_lens is {}, expected {} integers",
             ToString(c_.TypeOf(4)), batch_);
  bool shorter = true, empty = true;
  if (const auto known = c_.Known(4)) {
    shorter = empty = false;
    for (int64_t i = 0; i < batch_; ++i) {
      const double length = known->At(i);
      c_.Require(length >= 0 && length <= static_cast<double>(steps_),
                 "sequence_lens has a length of {} for {} steps", length,
                 steps_);
      shorter = shorter || length < static_cast<double>(steps_);
      empty = empty || length == 0;
    }
  }
  if (!shorter) return;
  lengths_ = c_.In(4);
  // ONNX Runtime leaves zeros of a sequence without steps, not the states that
  // it had to begin with.
  if (empty) {
    begins_ = c_.Reshape(
        c_.Cast(c_.Op<op::GreaterScalar>({lengths_}, {.scalar = 0}), dtype_),
        Shape{1, batch_, 1});
  }
}

Value RecurrentNode::State(int i, const char* what) {
  const Shape shape = {directions_, batch_, hidden_};
  if (!c_.Has(i)) return c_.Zeros({dtype_, shape});
  Value state = c_.In(i);
  c_.Require(state.shape().rank() == 3, "{} has {} axes, expected 3", what,
             state.shape().rank());
  if (batch_first_) state = c_.Transpose(state, {1, 0, 2});
  Expect(what, state, shape);
  return begins_ ? c_.Mul(state, begins_) : state;
}

}  // namespace mxc::onnx
