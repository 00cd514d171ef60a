// SPDX-License-Identifier: Apache-2.0
// Densities of distributions, at samples that have parameters of their own; with
// is_log their logarithms.
//   sample  f[P…, S…]     parameters  f[P…]     output  f[P…, S…]
// C1  parameters have one shape, which sample's begins with
// Source: MXNet 1.9.1 operator/random/pdf_op.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

struct DensityAttrs {
  bool is_log = false;

  void Describe(Fields& f) {
    f("is_log", is_log).Doc("the logarithm of the density instead");
  }
};

// Of x, and of parameters that broadcast with it.
using LogDensity = Value (*)(GraphBuilder& b, Value x,
                             std::span<const Value> parameters);

// _random_pdf_<distribution>.
Operator DensityOperator(const std::string& distribution,
                         const std::vector<std::string>& parameters,
                         LogDensity density);
// The output, for the logarithm of the density.
Value Density(const DensityAttrs& attrs, GraphBuilder& b, Value logarithm);

Value LogGamma(GraphBuilder& b, Value x);
// Logarithms of probabilities of whole numbers, which get no gradient: of so many
// events with a mean, and of so many failures before the k-th success, each trial
// one with probability p.
Value LogPoisson(GraphBuilder& b, Value sample, Value mean);
Value LogNegativeBinomial(GraphBuilder& b, Value sample, Value k, Value p);

}  // namespace mxc
