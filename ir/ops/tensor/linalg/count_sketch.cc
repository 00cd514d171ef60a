// SPDX-License-Identifier: Apache-2.0
// _contrib_count_sketch: features added up in fewer places, each with a sign.
//   data  f[…, d]     h, s  f[1, d] or f[d]: places below out_dim, and signs
//   output  f[…, out_dim]; output[…, k] = Σ s[j] · data[…, j] over all j with
//           h[j] = k
// C1  h and s have an element for each feature
// Gradient of data: s[j] · head[…, h[j]]; none of h and s, as in MXNet.
// Source: MXNet 1.9.1 operator/contrib/count_sketch-inl.h; Pham and Pagh, Fast
// and Scalable Polynomial Kernels via Explicit Feature Maps, 2013.
#include "ir/ops/op.h"
#include "ir/ops/tensor/indexing/scatter_add.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc {
namespace {

struct CountSketchAttrs {
  int64_t out_dim = 1;
  int64_t processing_batch_size = 32;

  void Describe(Fields& f) {
    f("out_dim", out_dim).Required().Min(1).Doc("how many places");
    f("processing_batch_size", processing_batch_size)
        .Doc("how many at a time")
        .Hint();
  }
};

void CountSketchTypes(const CountSketchAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  Shape out = t.In(0);
  if (!out.known() || out.rank() == 0) return;
  int64_t& last = out[out.rank() - 1];
  for (int i = 1; i < 3; ++i) {
    const Shape& one = t.In(i);
    if (one.known() && !t.Require(one == Shape{last} || one == Shape{1, last},
                                  "C1: {} has shape {}, data has {} features",
                                  i == 1 ? "h" : "s", ToString(one), last)) {
      return;
    }
    if (!one.known_rank()) t.SetIn(i, Shape{1, last});
  }
  last = attrs.out_dim;
  t.SetOut(0, out);
}

std::vector<Value> CountSketchParts(const CountSketchAttrs& attrs,
                                    const Node& node, GraphBuilder& b) {
  const Value data = node.inputs[0];
  const int64_t features = data.shape()[data.shape().rank() - 1];
  const Value places = b.Reshape(node.inputs[1], Shape{features});
  const Value signs = b.Reshape(node.inputs[2], Shape{features});
  return {b.Op<op::ScatterAdd>({b.Mul(data, signs), places},
                               {.axis = -1, .extent = attrs.out_dim})};
}

std::vector<Value> CountSketchGradient(const CountSketchAttrs&,
                                       GradientBuilder& g) {
  const int rank = g.In(0).shape().rank();
  const Shape features = {g.In(0).shape()[rank - 1]};
  const Value taken =
      g.Op<op::Take>({g.Head(), g.Reshape(g.In(1), features)}, {.axis = -1});
  return {g.Mul(taken, g.Reshape(g.In(2), features)), {}, {}};
}

}  // namespace

MXC_OP(CountSketch) {
  return Op<CountSketchAttrs>("_contrib_count_sketch")
      .Doc("features added up in fewer places")
      .Inputs({{"data"}, {"h"}, {"s"}})
      .Types(CountSketchTypes)
      .FloatsOnly()
      .Decompose(CountSketchParts)
      .Gradient(CountSketchGradient);
}

}  // namespace mxc
