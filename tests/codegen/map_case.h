// SPDX-License-Identifier: Apache-2.0
// One Map step, compiled, run on fenced memory, and compared with the
// interpreter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codegen/backend.h"
#include "ir/program/program.h"
#include "ir/program/steps/map.h"
#include "ir/target/target.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {

// Channels in blocks.
inline Layout Blocked(const Shape& shape, int64_t block) {
  return Layout::Blocked(shape, 1, block);
}

class MapCase {
 public:
  // Operands; returns the number that Load uses. Values are random unless
  // `value(i)` gives the i-th in row-major order.
  int In(TensorType type, Layout layout,
         std::function<Element(int64_t i)> value = nullptr);
  int In(Shape shape) { return In({DType::kF32, shape}); }
  int In(TensorType type) { return In(type, Layout::RowMajor(type.shape)); }
  // Outputs after all inputs; returns the number that Box uses.
  int Out(TensorType type, Layout layout);
  int Out(Shape shape) {
    return Out({DType::kF32, shape}, Layout::RowMajor(shape));
  }
  // The whole of output 0, 1, … in order.
  void Set(Expr value);
  void Box(int output, Extents begin, Extents extent, Expr value);

  // Element of operand k at the output's own indices.
  Expr At(int operand) const;
  // Operand k's type at the given indices.
  Expr At(int operand, std::vector<Expr> index) const;

  // Empty, or what is wrong: a difference above tolerance · max(1, max|y|), a
  // halo that is not zero, padding that is not finite, bytes that depend on how
  // the tasks are split, memory touched outside of the buffers.
  std::string Check(const Target& target, double tolerance = 2e-6) const {
    return Check(target, BackendOf(target), tolerance);
  }
  std::string Check(const Target& target, const Backend& backend,
                    double tolerance) const;
  // For all levels that this machine can run, on an emulated device, and by a
  // back end that has nothing but the loops that all have.
  std::string CheckAll(double tolerance = 2e-6) const;

  // What the step writes, one output behind the other; it must run.
  std::vector<Tensor> Outputs(const Target& target) const;

  Program& program() { return program_; }

 private:
  struct Placed;
  Placed Place(const Target& target) const;

  Program program_;
  Map map_;
  std::vector<std::function<Element(int64_t)>> values_;
};

// r over 0 ≤ r < extent, for Reduce.
Expr SumOver(int64_t extent, const std::function<Expr(Expr r)>& body);
Expr MaxOver(int64_t extent, const std::function<Expr(Expr r)>& body);

}  // namespace mxc::test
