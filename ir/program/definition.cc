// SPDX-License-Identifier: Apache-2.0
#include "ir/program/definition.h"

#include <algorithm>
#include <utility>

#include "ir/program/steps/map.h"

namespace mxc {

Definition::Definition(const Node& node, bool training)
    : output_types_(node.types), training_(training) {
  for (const Value& input : node.inputs) input_types_.push_back(input.type());
}

Definition::Definition(std::vector<TensorType> inputs,
                       std::vector<TensorType> outputs, bool training)
    : input_types_(std::move(inputs)),
      output_types_(std::move(outputs)),
      training_(training) {}

Definition::~Definition() = default;

std::vector<Expr> Definition::Indices(int output) const {
  std::vector<Expr> indices;
  for (int axis = 0; axis < OutShape(output).rank(); ++axis) {
    indices.push_back(Var(axis));
  }
  return indices;
}

Expr Definition::In(int input, std::vector<Expr> index) const {
  MXC_CHECK(static_cast<int>(index.size()) == InShape(input).rank(),
            "{} indices for input {} of shape {}", index.size(), input,
            ToString(InShape(input)));
  return Load(input, InDType(input), std::move(index));
}

Expr Definition::InBroadcast(int input, const std::vector<Expr>& index) const {
  const Shape& shape = InShape(input);
  const int skip = static_cast<int>(index.size()) - shape.rank();
  MXC_CHECK(skip >= 0);
  std::vector<Expr> own;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    own.push_back(shape[axis] == 1 ? Expr(0) : index[skip + axis]);
  }
  return In(input, std::move(own));
}

Expr Definition::ReduceOver(ReduceOp op, const std::vector<Expr>& begin,
                            const std::vector<Expr>& end, const Body& body) {
  std::vector<Range> ranges;
  std::vector<Expr> vars;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int var = FreshReductionVar();
    ranges.push_back({var, begin[i], end[i]});
    vars.push_back(Var(var));
  }
  return Reduce(op, std::move(ranges), body(vars));
}

Expr Definition::Sum(const std::vector<Expr>& extents, const Body& body) {
  return ReduceOver(ReduceOp::kSum, std::vector<Expr>(extents.size(), 0),
                    extents, body);
}
Expr Definition::Product(const std::vector<Expr>& extents, const Body& body) {
  return ReduceOver(ReduceOp::kProduct, std::vector<Expr>(extents.size(), 0),
                    extents, body);
}
Expr Definition::MaxOf(const std::vector<Expr>& extents, const Body& body) {
  return ReduceOver(ReduceOp::kMax, std::vector<Expr>(extents.size(), 0),
                    extents, body);
}
Expr Definition::MinOf(const std::vector<Expr>& extents, const Body& body) {
  return ReduceOver(ReduceOp::kMin, std::vector<Expr>(extents.size(), 0),
                    extents, body);
}

Expr Definition::ReduceAxes(
    ReduceOp op, int input, const Extents& axes, const std::vector<Expr>& index,
    const std::function<Expr(Expr element)>& body) const {
  const Shape& shape = InShape(input);
  std::vector<Expr> extents;
  for (const int64_t axis : axes)
    extents.push_back(shape[static_cast<int>(axis)]);
  return ReduceOver(
      op, std::vector<Expr>(axes.size(), 0), extents,
      [&](const std::vector<Expr>& r) {
        std::vector<Expr> full;
        size_t reduced = 0, kept = 0;
        for (int axis = 0; axis < shape.rank(); ++axis) {
          const bool is_reduced = std::ranges::find(axes, axis) != axes.end();
          full.push_back(is_reduced ? r[reduced++] : index[kept++]);
        }
        return body(In(input, std::move(full)));
      });
}

Expr Definition::Flatten(const std::vector<Expr>& index, const Shape& shape) {
  Expr position = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    position = position * shape[axis] + index[axis];
  }
  return position;
}

std::vector<Expr> Definition::Unflatten(Expr position, const Shape& shape) {
  std::vector<Expr> index(shape.rank());
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = axis == 0 ? position : position % shape[axis];
    position = position / shape[axis];
  }
  return index;
}

void Definition::Set(int output, Expr value) {
  const Shape& shape = OutShape(output);
  SetBox(output, Extents(shape.rank(), 0), shape.dims(), std::move(value));
}

void Definition::SetBox(int output, Extents begin, Extents extent, Expr value) {
  for (const int64_t n : extent) {
    if (n == 0) return;
  }
  stores_.push_back({output, std::move(begin), std::move(extent),
                     Cast(std::move(value), OutDType(output))});
}

}  // namespace mxc
