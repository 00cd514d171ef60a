// SPDX-License-Identifier: Apache-2.0
// Integer index expressions in the form constant + Σ coefficient · atom, where
// an atom is a variable or what cannot be taken apart further (a quotient, a
// loaded index). Addresses are simplified and classified in this form.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/layout.h"

namespace mxc {

struct Affine {
  struct Term {
    Expr atom;  // i64
    int64_t coefficient = 0;
  };
  std::vector<Term> terms;  // in order of first appearance, coefficients ≠ 0
  int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  // Of Var(var) as a term of its own; 0 if there is none.
  int64_t CoefficientOf(int var) const;
  // Returns whether `var` occurs inside an atom other than Var(var).
  bool HidesVar(int var) const;

  void Add(const Expr& atom, int64_t coefficient);
  void Add(const Affine& other, int64_t factor = 1);
};

// Equal to `e` for every value of the variables in their ranges.
Affine ToAffine(const Expr& e, const IntervalOf& range);
Expr ToExpr(const Affine& a);
// Bounds of the value; nullopt when an atom's are unknown.
std::optional<Interval> Bounds(const Affine& a, const IntervalOf& range);
std::optional<Interval> Bounds(const Expr& e, const IntervalOf& range);

// A comparison of two i64 (<, ≤, =, ≠) in the form 0 ≤ affine, 0 = affine or
// 0 ≠ affine, or the constant that it always is.
Expr SimplifyComparison(BinaryOp op, const Expr& a, const Expr& b,
                        const IntervalOf& range);

// The element offset of a logical index in a layout.
Affine OffsetOf(const Layout& layout, const std::vector<Expr>& index,
                const IntervalOf& range);

}  // namespace mxc
