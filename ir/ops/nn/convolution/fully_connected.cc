// SPDX-License-Identifier: Apache-2.0
// FullyConnected: every output is a weighted sum of one row of data.
//   data    f[N, d1 …]             flatten: a row is all but the first axis
//           f[n1 …, K]             otherwise it is the last axis
//   weight  f[num_hidden, K]       K = ∏ d
//   bias    f[num_hidden]          unless no_bias; (num_hidden, 1) is legal too
//   output  f[N, num_hidden]  or  f[n1 …, num_hidden]
// C1  num_hidden is positive
// C2  bias has num_hidden elements
// C3  data is of a floating type
// Rows of more than one axis are made two-dimensional by a view, so that only
// plain matrix products remain.
// Source: MXNet 1.9.1 operator/nn/fully_connected.cc.
#include "ir/ops/nn/convolution/fully_connected.h"

#include <fmt/format.h>

#include "ir/ops/tensor/linalg/dot.h"
#include "ir/ops/tensor/shape/reshape.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

std::vector<InputSpec> FullyConnectedInputs(const FullyConnectedAttrs& a) {
  std::vector<InputSpec> inputs = {{"data", InputKind::kData},
                                   {"weight", InputKind::kParameter}};
  if (!a.no_bias) inputs.push_back({"bias", InputKind::kParameter});
  return inputs;
}

namespace {

// The length of data's rows, kUnknownDim while it does not follow.
int64_t RowLength(const FullyConnectedAttrs& a, const Shape& data) {
  if (!data.known_rank() || data.rank() == 0) return Shape::kUnknownDim;
  if (!a.flatten) return data[data.rank() - 1];
  const Extents row(data.dims().begin() + 1, data.dims().end());
  if (!Shape(row).known()) return Shape::kUnknownDim;
  return CheckedProduct(row).value_or(Shape::kUnknownDim);
}

}  // namespace

void FullyConnectedShapes(const FullyConnectedAttrs& a, TypeInference& t) {
  const Shape& data = t.In(0);
  t.SetIn(1, {a.num_hidden, RowLength(a, data)});
  const bool column = !a.no_bias && t.In(2).known_rank() && t.In(2).rank() == 2;
  if (!a.no_bias) {
    const Shape bias = column ? Shape{a.num_hidden, 1} : Shape{a.num_hidden};
    t.Require(!t.In(2).known() || t.In(2) == bias,
              "C2: bias has shape {}, expected {}", ToString(t.In(2)),
              ToString(bias));
    t.SetIn(2, bias);
  }
  if (!data.known_rank() || data.rank() == 0) return;
  Shape output = Shape::OfRank(a.flatten ? 2 : data.rank());
  for (int axis = 0; axis + 1 < output.rank(); ++axis) {
    output[axis] = data[axis];
  }
  output[output.rank() - 1] = a.num_hidden;
  t.SetOut(0, output);
  if (t.error()) return;
  Shape back = data;
  for (int axis = 0; axis + 1 < output.rank(); ++axis) {
    back[axis] = t.Out(0)[axis];
  }
  t.SetIn(0, back);
}

void FullyConnectedMeaning(const FullyConnectedAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr hidden = i.back();
  const Shape& data = def.InShape(0);
  const auto wide = [&](const Expr& x) { return Cast(x, def.OutDType()); };
  Expr sum =
      Definition::Sum({def.InShape(1)[1]}, [&](const std::vector<Expr>& r) {
        std::vector<Expr> at(i.begin(), i.end() - 1);
        if (a.flatten) {
          const Shape row(Extents(data.dims().begin() + 1, data.dims().end()));
          const std::vector<Expr> rest = Definition::Unflatten(r[0], row);
          at.insert(at.end(), rest.begin(), rest.end());
        } else {
          at.push_back(r[0]);
        }
        return wide(def.In(0, at)) * wide(def.In(1, {hidden, r[0]}));
      });
  if (!a.no_bias) {
    sum = sum + (def.InShape(2).rank() == 2 ? def.In(2, {hidden, 0})
                                            : def.In(2, {hidden}));
  }
  def.Set(0, sum);
}

std::optional<Contraction> FullyConnectedContraction(
    const FullyConnectedAttrs& a, const Definition& def) {
  if (def.InShape(0).rank() != 2) return std::nullopt;
  if (!a.no_bias && def.InShape(2).rank() != 1) return std::nullopt;
  Contraction c;
  c.batch = def.InShape(0)[0];
  c.in = def.InShape(1)[1];
  c.out = a.num_hidden;
  c.data_axes = {Role::kBatch, Role::kIn};
  c.weight_axes = {Role::kOut, Role::kIn};
  c.output_axes = {Role::kBatch, Role::kOut};
  return c;
}

std::vector<Value> FullyConnectedByRows(const FullyConnectedAttrs& a,
                                        const Node& node, GraphBuilder& b) {
  const Shape& data = node.inputs[0].shape();
  if (data.rank() <= 2) return {};
  std::vector<Value> inputs = node.inputs;
  inputs[0] = a.flatten ? b.Op<op::Flatten>({inputs[0]}, "rows")
                        : b.Op<op::Reshape>(
                              {inputs[0]},
                              {.shape = {-1, data[data.rank() - 1]}}, "rows");
  FullyConnectedAttrs of_rows = a;
  of_rows.flatten = true;
  const Value rows =
      b.Op(*node.op, inputs,
           PrintAttrs([&](Fields& f) { of_rows.Describe(f); }), "product");
  if (a.flatten) return {rows};
  return {b.Op<op::Reshape>({rows}, {.shape = node.types[0].shape.dims()},
                            "output")};
}

namespace {

void FullyConnectedTypes(const FullyConnectedAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const DType dtype = t.InDType(0);
  const bool floats = t.Require(dtype == DType::kUnknown || IsFloat(dtype),
                                "C3: data has type {}, expected a floating one",
                                ShortName(dtype));
  if (floats) FullyConnectedShapes(a, t);
}

// By products of matrices: data [rows, K], head [rows, num_hidden].
std::vector<Value> FullyConnectedGradient(const FullyConnectedAttrs&,
                                          GradientBuilder& g) {
  const Shape& weight = g.In(1).shape();
  const Value dy =
      g.Reshape(g.Head(), {g.Head().shape().elements() / weight[0], weight[0]});
  const auto rows = [&] {
    return g.Reshape(g.In(0), {dy.shape()[0], weight[1]});
  };
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) {
    gradients[0] = g.Reshape(g.Op<op::Dot>({dy, g.In(1)}), g.In(0).shape());
  }
  if (g.Needs(1)) {
    gradients[1] = g.Op<op::Dot>({dy, rows()}, {.transpose_a = true});
  }
  if (g.inputs() > 2 && g.Needs(2)) {
    gradients[2] = g.Reshape(g.Sum(dy, {0}), g.In(2).shape());
  }
  return gradients;
}

}  // namespace

MXC_OP(FullyConnected) {
  return Op<FullyConnectedAttrs>("FullyConnected")
      .Doc("data · weightᵀ + bias")
      .Alias({"_npx_fully_connected"})
      .InputsOf(FullyConnectedInputs)
      .Types(FullyConnectedTypes)
      .Meaning(FullyConnectedMeaning)
      .Decompose(FullyConnectedByRows)
      .Gradient(FullyConnectedGradient)
      .AsContraction(FullyConnectedContraction);
}

}  // namespace mxc
