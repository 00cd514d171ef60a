// SPDX-License-Identifier: Apache-2.0
// Which values of index variables fulfil equations and conditions: variables
// that an equation gives are replaced, the ranges of the others narrowed.
//
//   0 ≤ o < 5, 0 ≤ w < 3, o·2 + w − 1 = j
//     ⇒  w = j + 1 − o·2
//        max(0, (j + 1 − 3) / 2 + 1) ≤ o < min(5, (j + 1) / 2 + 1)
#pragma once

#include <map>
#include <vector>

#include "ir/program/expr.h"

namespace mxc {

class IndexConstraints {
 public:
  // Variables in an order in which bounds use earlier ones only.
  explicit IndexConstraints(std::vector<Range> ranges)
      : ranges_(std::move(ranges)) {}

  void Require(const Expr& condition);
  void RequireEqual(const Expr& a, const Expr& b);
  void Solve();

  // After Solve: what is left to run over, what must be asked, and an
  // expression with the replaced variables' values.
  const std::vector<Range>& ranges() const { return ranges_; }
  const std::vector<Expr>& conditions() const { return conditions_; }
  Expr Substituted(const Expr& e) const;

 private:
  // Σ factor · variable + rest, which may use variables, but not as terms.
  struct Linear {
    std::map<int, int64_t> factors;
    Expr rest;
  };
  struct Equation {
    Expr a, b;
  };

  bool IsVariable(int var) const;
  bool UsesVariables(const Expr& e) const;
  Linear LinearOf(const Expr& e) const;
  bool Eliminate(const Equation& equation);
  void EliminateAll();
  void Replace(int var, const Expr& by);
  void SplitDivision(const Equation& equation);
  bool Narrow(const Expr& condition);
  void SortRanges();

  std::vector<Range> ranges_;
  std::vector<Equation> equations_;
  std::vector<Expr> conditions_;
  std::vector<std::pair<int, Expr>> replaced_;  // each may use later ones
};

}  // namespace mxc
