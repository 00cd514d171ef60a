// SPDX-License-Identifier: Apache-2.0
// Products of matrices, determinants and inverses.
#include "frontend/onnx/operators/product.h"

#include "ir/ops/nn/convolution/fully_connected.h"
#include "ir/ops/numpy/linalg/npi_einsum.h"

namespace mxc::onnx {

Value MatrixProduct(Call& c, Value a, Value b) {
  const int rank_a = a.shape().rank(), rank_b = b.shape().rank();
  c.Require(rank_a > 0 && rank_b > 0, "one operand is a scalar");
  if (rank_a == 1) a = c.Unsqueeze(a, 0);
  if (rank_b == 1) b = c.Unsqueeze(b, 1);
  Value product;
  if (b.shape().rank() == 2 && a.shape().rank() >= 2) {
    // All rows of a by one matrix.
    product = c.Op<op::Dot>({a, b});
  } else {
    product = c.Op<op::NpiMatmul>({a, b});
  }
  if (rank_a > 1 && rank_b > 1) return product;
  Extents dims = product.shape().dims();
  if (rank_b == 1) dims.pop_back();
  if (rank_a == 1) dims.erase(dims.end() - (rank_b == 1 ? 1 : 2));
  return c.Reshape(product, dims);
}

void ImportMatMul(Call& c) { c.Give(0, MatrixProduct(c, c.In(0), c.In(1))); }

// α A B + β C. A product by transposed weights with a bias is a layer.
void ImportGemm(Call& c) {
  const double alpha = c.Float("alpha", 1), beta = c.Float("beta", 1);
  const bool transpose_a = c.Flag("transA"), transpose_b = c.Flag("transB");
  c.Ignore("broadcast");
  const Value a = c.In(0), b = c.In(1);
  c.Require(a.shape().rank() == 2 && b.shape().rank() == 2,
            "its operands have {} and {} axes, expected 2", a.shape().rank(),
            b.shape().rank());
  const bool biased = c.Has(2) && beta != 0;
  if (!transpose_a && transpose_b && alpha == 1 && IsFloat(a.type().dtype)) {
    const int64_t hidden = b.shape()[0];
    const bool vector =
        biased && beta == 1 && c.ShapeOf(2) == Shape(Extents{hidden});
    if (vector) {
      return c.Give(
          0, c.Op<op::FullyConnected>(
                 {a, b, c.In(2)}, {.num_hidden = hidden, .flatten = false}));
    }
    const Value product = c.Op<op::FullyConnected>(
        {a, b}, {.num_hidden = hidden, .no_bias = true, .flatten = false});
    if (!biased) return c.Give(0, product);
    const Value bias = beta == 1 ? c.In(2) : c.Mul(c.In(2), beta);
    return c.Give(0, c.Add(product, bias));
  }
  Value product = c.Op<op::Dot>({transpose_a ? c.Transpose(a, {1, 0}) : a,
                                 transpose_b ? c.Transpose(b, {1, 0}) : b});
  if (alpha != 1) product = c.Mul(product, alpha);
  if (biased) {
    product = c.Add(product, beta == 1 ? c.In(2) : c.Mul(c.In(2), beta));
  }
  c.Give(0, product);
}

void ImportEinsum(Call& c) {
  std::vector<Value> operands;
  for (int i = 0; i < c.inputs(); ++i) operands.push_back(c.In(i));
  c.Give(0,
         c.Op<op::NpiEinsum>(operands, {.num_args = std::ssize(operands),
                                        .subscripts = c.String("equation")}));
}

void ImportDet(Call& c) {
  const Value given = c.In(0);
  const Shape& shape = given.shape();
  c.Require(shape.rank() >= 2, "its matrix has {} axes", shape.rank());
  const DType dtype = given.type().dtype;
  const Extents batch(shape.dims().begin(), shape.dims().end() - 2);
  const Value det = c.Op<op::LinalgDet>({c.Cast(given, AccumulateType(dtype))});
  c.Give(0, c.Cast(c.Reshape(det, batch), dtype));
}

void ImportInverse(Call& c) {
  const Value given = c.In(0);
  const DType dtype = given.type().dtype;
  c.Give(0,
         c.Cast(c.Op<op::LinalgInverse>({c.Cast(given, AccumulateType(dtype))}),
                dtype));
}

}  // namespace mxc::onnx
