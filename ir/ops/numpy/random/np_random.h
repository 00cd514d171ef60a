// SPDX-License-Identifier: Apache-2.0
// Distributions of mx.np. A parameter is a number, as an attribute, or a tensor:
// those that are None are the inputs, in order.
//   output  f[size], to which the parameters broadcast; of the shape that they
//           broadcast to if size is None; with `batch` f[size…, that shape…]
// A draw is a function of its parameters and of numbers that do not depend on
// them, so that gradients reach the parameters.
// C1  the parameters broadcast with each other, and to size
// Source: MXNet 1.9.1 operator/numpy/random/.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

// Draws of a shape in f32, for parameters that broadcast to it.
using NpDraw = Value (*)(GraphBuilder& b, const Shape& shape,
                         const std::vector<Value>& parameters);

// `names` are those of the parameters; `standard` is what they are if nothing
// is said, `typed` whether dtype may be stated.
struct NpDistribution {
  std::array<const char*, 2> names = {};
  std::optional<double> standard = {};
  bool typed = false;
  bool batch = false;
  NpDraw draw = nullptr;

  size_t parameters() const { return names[1] == nullptr ? 1 : 2; }
};

struct NpDrawRequest {
  std::span<const std::optional<double>> parameters;
  std::optional<Extents> size;
  DType dtype = DType::kF32;
  bool batch = false;
};
std::vector<InputSpec> NpDrawInputs(const NpDrawRequest& request);
void NpDrawTypes(const NpDrawRequest& request, TypeInference& t);
std::vector<Value> NpDrawParts(const NpDrawRequest& request, NpDraw draw,
                               const Node& node, GraphBuilder& b);

template <const NpDistribution& kDistribution>
struct NpDrawAttrs {
  std::array<std::optional<double>, 2> parameters = {kDistribution.standard,
                                                     kDistribution.standard};
  std::optional<Extents> size;
  std::string ctx;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    for (size_t i = 0; i < kDistribution.parameters(); ++i) {
      f(kDistribution.names[i], parameters[i])
          .Doc("parameter of the distribution; None: an input");
    }
    f("size", size).Min(1).Doc("extents; None: those of the parameters");
    f("ctx", ctx).Doc("device").Hint();
    if (kDistribution.typed) f("dtype", dtype).Doc("element type");
  }
  NpDrawRequest request() const {
    return {std::span(parameters).first(kDistribution.parameters()), size,
            dtype, kDistribution.batch};
  }
};

template <const NpDistribution& kDistribution>
Operator NpRandomOperator(std::string name, std::string doc) {
  using Attrs = NpDrawAttrs<kDistribution>;
  return Op<Attrs>(std::move(name))
      .Doc(std::move(doc))
      .InputsOf([](const Attrs& a) { return NpDrawInputs(a.request()); })
      .RandomIf([](const Attrs&, bool) { return true; })
      .Types(
          [](const Attrs& a, TypeInference& t) { NpDrawTypes(a.request(), t); })
      .Decompose([](const Attrs& a, const Node& node, GraphBuilder& b) {
        return NpDrawParts(a.request(), kDistribution.draw, node, b);
      });
}

// With two parameters: mean and deviation; the least, and what all are below.
Value DrawNormal(GraphBuilder& b, const Shape& shape,
                 const std::vector<Value>& parameters);
Value DrawUniform(GraphBuilder& b, const Shape& shape,
                  const std::vector<Value>& parameters);
// loc + scale · drawn, of the parameters loc and scale.
Value Placed(GraphBuilder& b, Value drawn,
             const std::vector<Value>& parameters);

// Uniform in (0, 1); exponential with rate 1, above 0.
Value InsideUnit(GraphBuilder& b, const Shape& shape);
Value StandardExponential(GraphBuilder& b, const Shape& shape);

}  // namespace mxc
