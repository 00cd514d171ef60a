// SPDX-License-Identifier: Apache-2.0
// What SoftmaxOutput, its gradient and its loss share.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

enum class SoftmaxNormalization : int { kNull, kBatch, kValid };

struct SoftmaxOutputAttrs {
  double grad_scale = 1;
  double ignore_label = -1;
  double smooth_alpha = 0;
  SoftmaxNormalization normalization = SoftmaxNormalization::kNull;
  bool multi_output = false;
  bool use_ignore = false;
  bool preserve_shape = false;
  bool out_grad = false;

  void Describe(Fields& f) {
    f("grad_scale", grad_scale).Doc("factor of the gradient");
    f("ignore_label", ignore_label).Doc("label without a gradient");
    f("multi_output", multi_output).Doc("whether axis 1 holds the classes");
    f("use_ignore", use_ignore).Doc("whether ignore_label counts");
    f("preserve_shape", preserve_shape)
        .Doc("whether the last axis holds the classes");
    f("normalization", normalization)
        .OneOf({"null", "batch", "valid"})
        .Doc("what the gradient is divided by");
    f("out_grad", out_grad).Doc("whether the head gradient is a factor");
    f("smooth_alpha", smooth_alpha)
        .Range(0, 1)
        .Doc("what of a label's 1 the other classes share");
  }
};
MXC_ATTRS(SoftmaxOutput, SoftmaxOutputAttrs);
MXC_ATTRS(SoftmaxOutputGradient, SoftmaxOutputAttrs);
MXC_ATTRS(SoftmaxOutputLoss, SoftmaxOutputAttrs);

// What the softmax is to say of the class in label, and of each other one.
struct SoftmaxTarget {
  double of_label = 1, of_others = 0;
};

// Where labels are classes. As in MXNet multi_output knows no smooth_alpha.
SoftmaxTarget TargetOf(const SoftmaxOutputAttrs& a, int64_t classes);

// Where SoftmaxOutput finds the class of an element of its output, and the
// label that belongs to it. Operand 0 of the definition is the output, operand
// 1 the label.
class SoftmaxOutputRows {
 public:
  SoftmaxOutputRows(const SoftmaxOutputAttrs& a, const Definition& def);

  // Label and output have one shape: labels are probabilities.
  bool probabilities() const { return probabilities_; }
  int64_t classes() const { return classes_; }
  int64_t rows() const { return rows_; }                // softmaxes
  int64_t labels() const { return label_.elements(); }  // at least rows()
  // Rows of one image.
  int64_t positions() const { return positions_; }

  // Of an element of the output.
  Expr ClassOf(const std::vector<Expr>& index) const;
  Expr RowOf(const std::vector<Expr>& index) const;
  // The element of the output.
  std::vector<Expr> IndexOf(Expr row, Expr klass) const;
  // The label of a row, or of a number below labels().
  Expr Label(Expr row) const;

 private:
  const Definition& def_;
  Shape output_, label_;
  bool probabilities_ = false;
  // The output seen as [rows / positions, classes, positions].
  int64_t classes_ = 1, rows_ = 1, positions_ = 1;
};

}  // namespace mxc
