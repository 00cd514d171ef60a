// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/loss/softmax_output.h"

namespace mxc {

SoftmaxTarget TargetOf(const SoftmaxOutputAttrs& a, int64_t classes) {
  if (a.multi_output || classes < 2) return {};
  return {1 - a.smooth_alpha,
          a.smooth_alpha / static_cast<double>(classes - 1)};
}

SoftmaxOutputRows::SoftmaxOutputRows(const SoftmaxOutputAttrs& a,
                                     const Definition& def)
    : def_(def), output_(def.InShape(0)), label_(def.InShape(1)) {
  const int64_t elements = output_.elements();
  probabilities_ = output_ == label_;
  if (a.multi_output) {
    classes_ = output_[1];
    positions_ = elements / (output_[0] * classes_);
  } else {
    classes_ =
        a.preserve_shape ? output_[output_.rank() - 1] : elements / output_[0];
  }
  rows_ = elements / classes_;
}

Expr SoftmaxOutputRows::ClassOf(const std::vector<Expr>& index) const {
  if (positions_ == 1 && output_.rank() == 2) return index[1];
  return Definition::Flatten(index, output_) / positions_ % classes_;
}

Expr SoftmaxOutputRows::RowOf(const std::vector<Expr>& index) const {
  if (positions_ == 1 && output_.rank() == 2) return index[0];
  const Expr flat = Definition::Flatten(index, output_);
  return flat / (positions_ * classes_) * positions_ + flat % positions_;
}

std::vector<Expr> SoftmaxOutputRows::IndexOf(Expr row, Expr klass) const {
  if (positions_ == 1 && output_.rank() == 2) return {row, klass};
  const Expr flat =
      (row / positions_ * classes_ + klass) * positions_ + row % positions_;
  return Definition::Unflatten(flat, output_);
}

Expr SoftmaxOutputRows::Label(Expr row) const {
  return def_.In(1, Definition::Unflatten(row, label_));
}

}  // namespace mxc
