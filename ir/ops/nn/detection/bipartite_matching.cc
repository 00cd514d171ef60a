// SPDX-License-Identifier: Apache-2.0
// _contrib_bipartite_matching: pairs of rows and columns, the best score first,
// each row and each column once.
//   data     f[…, R, C]    scores
//   rows     f[…, R]       the column of each row, or −1
//   columns  f[…, C]       the row of each column, or −1
// Scores count above threshold, with is_ascend below it. With a positive topk
// there are at most topk + 1 pairs, as in MXNet 1.9.1.
// C1  data has at least 2 axes
// C2  there are fewer than 2^31 scores in a matrix
// Source: MXNet 1.9.1 operator/contrib/bounding_box-inl.h.
#include "ir/ops/nn/detection/bipartite_matching.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/sort/argsort.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

// The output of rows, or of columns.
Shape Matched(const Shape& data, bool rows) {
  Extents dims = data.dims();
  dims.erase(dims.end() - (rows ? 1 : 2));
  return dims;
}

void BipartiteMatchingTypes(const BipartiteMatchingAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known()) return;
  const int rank = data.rank();
  if (!t.Require(rank >= 2, "C1: data has {} axes, expected at least 2",
                 rank)) {
    return;
  }
  const auto scores = CheckedProduct({data[rank - 2], data[rank - 1]});
  if (!t.Require(scores && *scores < int64_t{1} << 31,
                 "C2: data has shape {}: too many scores", ToString(data))) {
    return;
  }
  t.SetOut(0, Matched(data, true));
  t.SetOut(1, Matched(data, false));
}

std::vector<Value> BipartiteMatchingByScore(const BipartiteMatchingAttrs& attrs,
                                            const Node& node, GraphBuilder& b) {
  const Shape& shape = node.inputs[0].shape();
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  const int64_t batch = shape.elements() / (rows * columns);
  const Value order = b.Op<op::Argsort>(
      {b.Reshape(node.inputs[0], {batch, rows * columns})},
      {.axis = 1, .is_ascend = attrs.is_ascend, .dtype = DType::kI32}, "order");
  const std::vector<Value> pairs = b.Ops<op::BipartiteMatchingSorted>(
      {b.Reshape(node.inputs[0], {batch, rows, columns}), order}, attrs);
  return {b.Reshape(pairs[0], Matched(shape, true)),
          b.Reshape(pairs[1], Matched(shape, false))};
}

void SortedTypes(const BipartiteMatchingAttrs&, TypeInference& t) {
  const Shape& data = t.In(0);
  for (const int k : {0, 1}) {
    t.SetOut(k, {data[0], data[1 + k]});
    t.SetOutDType(k, t.InDType(0));
  }
}

void SortedProcedure(const BipartiteMatchingAttrs& a, ProcedureBuilder& p) {
  const int64_t rows = p.InShape(0)[1], columns = p.InShape(0)[2];
  const Expr matrix = p.Tasks(p.InShape(0)[0]);
  const Expr none = Constant(-1, p.OutDType());
  p.For(0, rows, [&](const Expr& r) { p.Set(p.Out(0)(matrix, r), none); });
  p.For(0, columns, [&](const Expr& c) { p.Set(p.Out(1)(matrix, c), none); });
  const Expr pairs = p.Let(Expr(0));
  p.For(0, rows * columns, [&](const Expr& k) {
    const Expr place = p.Let(Cast(p.In(1)(matrix, k), DType::kI64));
    const Expr row = p.Let(place / columns), column = p.Let(place % columns);
    const Expr score = p.Let(p.In(0)(matrix, row, column));
    const Expr bound = Constant(a.threshold, p.InDType(0));
    const Expr counts = a.is_ascend ? score < bound : score > bound;
    p.If(Unary(UnaryOp::kNot, counts), [&] { p.Break(); });
    const Expr free =
        p.Out(0)(matrix, row) == none && p.Out(1)(matrix, column) == none;
    p.If(free, [&] {
      p.Set(p.Out(0)(matrix, row), column);
      p.Set(p.Out(1)(matrix, column), row);
      p.Set(pairs, pairs + 1);
      if (a.topk > 0) p.If(pairs > Expr(a.topk), [&] { p.Break(); });
    });
  });
}

}  // namespace

MXC_OP(BipartiteMatching) {
  return Op<BipartiteMatchingAttrs>("_contrib_bipartite_matching")
      .Doc("pairs of rows and columns, the best score first")
      .Outputs({"rows", "columns"})
      .Types(BipartiteMatchingTypes)
      .FloatsOnly()
      .Decompose(BipartiteMatchingByScore)
      .ZeroGradient();
}

MXC_OP(BipartiteMatchingSorted) {
  return Op<BipartiteMatchingAttrs>("_bipartite_matching_sorted")
      .Internal()
      .Doc("pairs of rows and columns, by the order of their scores")
      .Inputs({{"data"}, {"order"}})
      .Outputs({"rows", "columns"})
      .Types(SortedTypes)
      .Procedure(SortedProcedure)
      .ZeroGradient();
}

}  // namespace mxc
