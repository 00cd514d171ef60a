// SPDX-License-Identifier: Apache-2.0
// _npi_bernoulli: 1 with probability prob, or 1 / (1 + e^-logit) with is_logit,
// else 0. The probability is an attribute, or input1 if that is None.
// C1  see np_random.h
#include "ir/ops/numpy/random/np_random.h"

namespace mxc {
namespace {

struct NpiBernoulliAttrs {
  std::optional<double> prob, logit;
  std::optional<Extents> size;
  std::string ctx;
  DType dtype = DType::kF32;
  bool is_logit = false;

  void Describe(Fields& f) {
    f("prob", prob).Doc("of a 1; None: an input, or logit");
    f("logit", logit).Doc("logarithm of prob / (1 - prob); None: an input");
    f("size", size).Min(1).Doc("extents; None: those of the parameter");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type");
    f("is_logit", is_logit).Required().Doc("whether logit is stated");
  }
  NpDrawRequest request() const {
    return {std::span(is_logit ? &logit : &prob, 1), size, dtype, false};
  }
};

Value DrawByProbability(GraphBuilder& b, const Shape& shape,
                        const std::vector<Value>& parameters) {
  const Value below = b.Sub(parameters[0], b.Uniform(shape));
  return b.Greater(below, b.Scalar(0));
}
Value DrawByLogit(GraphBuilder& b, const Shape& shape,
                  const std::vector<Value>& parameters) {
  return DrawByProbability(b, shape, {b.Op<op::Sigmoid>({parameters[0]})});
}

}  // namespace

MXC_OP(NpiBernoulli) {
  using Attrs = NpiBernoulliAttrs;
  return Op<Attrs>("_npi_bernoulli")
      .Doc("ones with a given probability, else zeros")
      .InputsOf([](const Attrs& a) { return NpDrawInputs(a.request()); })
      .RandomIf([](const Attrs&, bool) { return true; })
      .ZeroGradient()
      .Types(
          [](const Attrs& a, TypeInference& t) { NpDrawTypes(a.request(), t); })
      .Decompose([](const Attrs& a, const Node& node, GraphBuilder& b) {
        return NpDrawParts(
            a.request(), a.is_logit ? DrawByLogit : DrawByProbability, node, b);
      });
}

}  // namespace mxc
