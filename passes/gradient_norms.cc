// SPDX-License-Identifier: Apache-2.0
#include "passes/gradient_norms.h"

#include <vector>

#include "ir/ops/tensor/control/map.h"

namespace mxc {
namespace {

// rescale · √Σ x²
Value NormOf(Graph& graph, const Trained& trained, double rescale) {
  GraphBuilder builder(graph, *trained.parameter);
  const TensorType& type = trained.gradient.type();
  const DType computing = type.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  std::vector<Range> ranges;
  std::vector<Expr> index;
  for (const int64_t extent : type.shape.dims()) {
    ranges.push_back({FreshReductionVar(), Expr(0), Expr(extent)});
    index.push_back(Var(ranges.back().var));
  }
  const Expr element = Cast(Load(0, type.dtype, index), computing);
  const Expr sum = Reduce(ReduceOp::kSum, ranges, element * element);
  const MapOutput output = {{DType::kF32, Shape{1}},
                            Sqrt(sum) * Constant(rescale, computing)};
  return MapOf(builder, {&trained.gradient, 1}, {&output, 1}, "norm")[0];
}

}  // namespace

void AddGradientNorms(Graph& graph, std::span<const Trained> parameters,
                      double rescale) {
  for (const Trained& trained : parameters) {
    graph.AddOutput(NormOf(graph, trained, rescale),
                    {TensorRole::kNorm, trained.parameter->name});
  }
}

}  // namespace mxc
