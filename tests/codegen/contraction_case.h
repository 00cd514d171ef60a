// SPDX-License-Identifier: Apache-2.0
// One contraction as a program of a single step, compiled by every candidate of
// the catalog and compared with the interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"
#include "ir/target/target.h"

namespace mxc::test {

struct ContractionCase {
  Contraction contraction;
  // Of the sums' type or of the output's, to which it is cast. Operand 2:
  // bias[channels], 3: residual, as the output.
  Expr epilogue;
  // Beyond what the kernel asks for, on both sides of the spatial axes.
  int64_t extra_halo = 0;
  // The border of the output, for its readers.
  int64_t output_halo = 0;
  CatalogOptions catalog = {};
  // Activations are windows of larger tensors.
  bool windows = false;
  // Windows of which the maxima are stored, by the kernels that can.
  Extents maxima = {};
};

// f[N, C, spatial …] by f[O, C/G, spatial …], as MXNet's Convolution.
struct ConvolutionShape {
  int64_t batch = 1, groups = 1, in = 1, out = 1;  // of all groups
  Extents input = {}, kernel = {}, stride = {}, dilate = {}, pad = {};
};
Contraction Convolution(const ConvolutionShape& shape);
// Its gradients: of the data, from f[N, O, …] and f[O, C/G, …], and of the
// weight, from f[N, C, …] and f[N, O, …].
Contraction BackwardData(const ConvolutionShape& shape);
Contraction BackwardWeight(const ConvolutionShape& shape);
// f[rows, in] by f[out, in]; `groups` > 1: batch_dot's f[groups, in, out].
Contraction Product(int64_t groups, int64_t rows, int64_t in, int64_t out);

// The same contraction of operands of that type, into another.
Contraction Typed(Contraction c, DType operands, DType output);
inline Contraction Typed(Contraction c, DType dtype) {
  return Typed(std::move(c), dtype, dtype);
}

// In the type of the sums.
Expr Bias(const Contraction& c);      // of the output channel
Expr Residual(const Contraction& c);  // at the output's index

// The step laid out as the candidate asks.
Program Build(const ContractionCase& c, const KernelCandidate& candidate);

// Compiles and runs all candidates on random values. Returns what is wrong,
// empty if nothing: an error above `tolerance` · max|y|, bytes outside of the
// buffers or in their gaps touched, channels of padding that are not finite, a
// halo not zero.
std::string Check(const ContractionCase& c, const Target& target, uint64_t seed,
                  double tolerance = 1e-5);

inline Expr Relu(const Expr& x) { return Max(x, Constant(0, x->dtype)); }

}  // namespace mxc::test
