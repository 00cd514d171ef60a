// SPDX-License-Identifier: Apache-2.0
// Definition: how an operator's file states its meaning in kernel IR.
//
//   void ReluMeaning(const NoAttrs&, Definition& def) {
//     def.Set(0, Max(def.In(0, def.Indices(0)), def.Zero()));
//   }
//
// An output is defined by one expression over its index variables, or by one
// for each of the boxes that it is made of (Concat).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/program/expr.h"
#include "ir/program/program.h"

namespace mxc {

class Definition {
 public:
  // Of a node whose types are known.
  Definition(const Node& node, bool training);
  Definition(std::vector<TensorType> inputs, std::vector<TensorType> outputs,
             bool training);
  ~Definition();

  int inputs() const { return static_cast<int>(input_types_.size()); }
  const Shape& InShape(int i) const { return input_types_[i].shape; }
  DType InDType(int i) const { return input_types_[i].dtype; }
  const Shape& OutShape(int i = 0) const { return output_types_[i].shape; }
  DType OutDType(int i = 0) const { return output_types_[i].dtype; }
  bool training() const { return training_; }

  // The index variables of an output, one for each axis.
  std::vector<Expr> Indices(int output = 0) const;
  // Element of an input. The index must be in bounds wherever it is evaluated
  // (Select evaluates the chosen side only).
  Expr In(int input, std::vector<Expr> index) const;
  // The same with NumPy broadcasting: `index` is that of a tensor of at least
  // the input's rank; axes align at the end, and those of extent 1 read 0.
  Expr InBroadcast(int input, const std::vector<Expr>& index) const;
  // A literal of output 0's element type.
  Expr Lit(double value) const { return Constant(value, OutDType(0)); }

  // Reductions over a box 0 ≤ r < extents; `body` maps its variables to a
  // value.
  using Body = std::function<Expr(const std::vector<Expr>& r)>;
  static Expr Sum(const std::vector<Expr>& extents, const Body& body);
  static Expr Product(const std::vector<Expr>& extents, const Body& body);
  static Expr MaxOf(const std::vector<Expr>& extents, const Body& body);
  static Expr MinOf(const std::vector<Expr>& extents, const Body& body);
  // Over begin[k] ≤ r[k] < end[k], bounds that may depend on outer variables.
  static Expr ReduceOver(ReduceOp op, const std::vector<Expr>& begin,
                         const std::vector<Expr>& end, const Body& body);
  // An input reduced over `axes` (ascending) at `index`, which holds the other
  // axes' variables in order; `body` maps an element of the input, given with
  // its full index, to what is combined.
  Expr ReduceAxes(ReduceOp op, int input, const Extents& axes,
                  const std::vector<Expr>& index,
                  const std::function<Expr(Expr element)>& body) const;

  // Row-major: the position of an index in a shape, and back.
  static Expr Flatten(const std::vector<Expr>& index, const Shape& shape);
  static std::vector<Expr> Unflatten(Expr position, const Shape& shape);

  // output[i] = value for every i; converted to the output's element type.
  void Set(int output, Expr value);
  // The same for begin ≤ i < begin + extent only. The boxes of an output are
  // disjoint and cover it.
  void SetBox(int output, Extents begin, Extents extent, Expr value);

  const std::vector<Store>& stores() const { return stores_; }

 private:
  std::vector<TensorType> input_types_, output_types_;
  bool training_;
  std::vector<Store> stores_;
};

}  // namespace mxc
