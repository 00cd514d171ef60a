// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/linalg/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ir/ops/tensor/shape/stack.h"
#include "ir/ops/tensor/shape/swap_axis.h"

namespace mxc {
namespace {

// Transforms of so many numbers at most are one product.
constexpr int64_t kMostAtOnce = 64;

int64_t LargestPrimeFactor(int64_t n) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor * factor <= n; ++factor) {
    while (n % factor == 0) {
      largest = factor;
      n /= factor;
    }
  }
  return std::max(largest, n);
}

// The largest divisor that one product transforms; else the least prime one.
int64_t FirstFactor(int64_t n) {
  for (int64_t factor = std::min(n, kMostAtOnce); factor > 1; --factor) {
    if (n % factor == 0) return factor;
  }
  for (int64_t factor = kMostAtOnce; factor < n; ++factor) {
    if (n % factor == 0) return factor;
  }
  return n;
}

// cos and ∓sin of 2π·row·column/n.
ComplexValue Turns(GraphBuilder& b, int64_t rows, int64_t columns, int64_t n,
                   bool inverse, DType dtype) {
  std::vector<float> cosines, sines;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const double angle = 2 * std::numbers::pi / static_cast<double>(n) *
                           static_cast<double>(row * column % n);
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>((inverse ? 1 : -1) * std::sin(angle)));
    }
  }
  const auto constant = [&](const std::vector<float>& values,
                            std::string_view role) {
    return b.Cast(b.Constant(Tensor::FromFloats({rows, columns}, values), role),
                  dtype);
  };
  return {constant(cosines, "cosines"), constant(sines, "sines")};
}

// `product` of complex numbers, by that of real ones.
template <class F>
ComplexValue ComplexProduct(GraphBuilder& b, const ComplexValue& x,
                            const ComplexValue& y, F product) {
  ComplexValue result = {product(x.real, y.real), product(x.real, y.imaginary)};
  if (!x.imaginary) return result;
  return {b.Sub(result.real, product(x.imaginary, y.imaginary)),
          b.Add(result.imaginary, product(x.imaginary, y.real))};
}

template <class F>
ComplexValue Both(const ComplexValue& x, F f) {
  return {f(x.real), x.imaginary ? f(x.imaginary) : Value()};
}

ComplexValue Reshaped(GraphBuilder& b, const ComplexValue& x,
                      const Shape& shape) {
  return Both(x, [&](Value part) { return b.Reshape(part, shape); });
}
// The last two axes of three exchanged.
ComplexValue Turned(GraphBuilder& b, const ComplexValue& x) {
  return Both(x, [&](Value part) {
    return b.Op<op::SwapAxis>({part}, {.dim1 = 1, .dim2 = 2});
  });
}

// Transforms each row of [rows, n].
ComplexValue TransformRows(GraphBuilder& b, const ComplexValue& x,
                           bool inverse) {
  const Shape shape = x.real.shape();
  const int64_t rows = shape[0], n = shape[1], n1 = FirstFactor(n);
  const DType dtype = x.real.type().dtype;
  const auto dot = [&](Value left, Value right) {
    return b.Op<op::Dot>({left, right});
  };
  const ComplexValue matrix = Turns(b, n1, n1, n1, inverse, dtype);
  if (n1 == n) return ComplexProduct(b, x, matrix, dot);
  const int64_t n2 = n / n1;
  const ComplexValue columns = Turned(b, Reshaped(b, x, {rows, n1, n2}));
  const ComplexValue first =
      ComplexProduct(b, Reshaped(b, columns, {rows * n2, n1}), matrix, dot);
  const ComplexValue turned = ComplexProduct(
      b, Reshaped(b, first, {rows, n2, n1}),
      Turns(b, n2, n1, n, inverse, dtype),
      [&](Value left, Value right) { return b.Mul(left, right); });
  const ComplexValue second = TransformRows(
      b, Reshaped(b, Turned(b, turned), {rows * n1, n2}), inverse);
  return Reshaped(b, Turned(b, Reshaped(b, second, {rows, n1, n2})), shape);
}

}  // namespace

bool RequireFourier(TypeInference& t, std::string_view label, int64_t extent) {
  const int64_t factor = LargestPrimeFactor(extent);
  return t.Require(factor <= kMostFourierFactor,
                   "{}: a transform of {} numbers, which {} divides, is not "
                   "supported, expected prime factors of at most {}",
                   label, extent, factor, kMostFourierFactor);
}

ComplexValue FourierTransform(GraphBuilder& b, ComplexValue x, bool inverse) {
  const Shape shape = x.real.shape();
  const int64_t n = shape[shape.rank() - 1];
  const Shape rows = {shape.elements() / n, n};
  return Reshaped(b, TransformRows(b, Reshaped(b, x, rows), inverse), shape);
}

Value Interleaved(GraphBuilder& b, const ComplexValue& x) {
  Shape shape = x.real.shape();
  const int last = shape.rank() - 1;
  const Value pairs =
      b.Op<op::Stack>({x.real, x.imaginary}, {.axis = -1, .num_args = 2});
  shape[last] *= 2;
  return b.Reshape(pairs, shape);
}

ComplexValue Separated(GraphBuilder& b, Value x) {
  Extents dims = x.shape().dims();
  dims.back() /= 2;
  const Shape shape(dims);
  dims.push_back(2);
  const Value pairs = b.Reshape(x, Shape(dims));
  const int last = pairs.shape().rank() - 1;
  const auto part = [&](int64_t i) {
    return b.Reshape(b.SliceAxis(pairs, last, i, i + 1), shape);
  };
  return {part(0), part(1)};
}

}  // namespace mxc
