// SPDX-License-Identifier: Apache-2.0
// A row times a matrix as a sum of the matrix's rows, as attention has it of the
// values where texts are written.
#include <doctest/doctest.h>

#include <cstring>

#include "codegen/cpu/task_ranges.h"
#include "codegen/schedule/loop_nest.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

constexpr int64_t kProducts = 3;

// Columns `first` … `first + columns` of each product with a matrix of `all`.
struct RowProduct {
  MapCase c;
  Expr value;

  RowProduct(int64_t rows, int64_t all, int64_t first, int64_t columns) {
    const auto number = [](int64_t i) {
      return Element{static_cast<double>((i * 7919) % 1009) / 97 - 5};
    };
    const auto in = [&](const Shape& shape) {
      return c.In({DType::kF32, shape}, Layout::RowMajor(shape), number);
    };
    const int row = in(Shape{kProducts, rows});
    const int matrix = in(Shape{kProducts, rows, all});
    value = SumOver(rows, [&](const Expr& r) {
      return c.At(row, {Var(0), r}) *
             c.At(matrix, {Var(0), r, Var(1) + Expr(first)});
    });
    c.Out(Shape{kProducts, columns});
    c.Set(value);
  }
};

}  // namespace

TEST_CASE("a row times a matrix is the interpreter's") {
  for (const int64_t rows : {5, 37, 256}) {
    for (const int64_t columns : {16, 24, 32, 64, 128}) {
      CAPTURE(rows);
      CAPTURE(columns);
      RowProduct product(rows, columns, 0, columns);
      CHECK(product.c.CheckAll(1e-5) == "");
    }
  }
}

TEST_CASE(
    "columns have the same bytes, however many are computed beside them") {
  constexpr int64_t kColumns = 64, kPart = 8;
  for (const Target& target : RunnableTargets()) {
    for (const int64_t rows : {5, 37, 256}) {
      const Tensor whole =
          RowProduct(rows, kColumns, 0, kColumns).c.Outputs(target)[0];
      for (int64_t first = 0; first < kColumns; first += kPart) {
        CAPTURE(rows);
        CAPTURE(first);
        const Tensor part =
            RowProduct(rows, kColumns, first, kPart).c.Outputs(target)[0];
        for (int64_t i = 0; i < kProducts; ++i) {
          const std::byte* of_whole =
              whole.bytes() + 4 * (i * kColumns + first);
          CHECK(std::memcmp(of_whole, part.bytes() + 4 * i * kPart,
                            4 * kPart) == 0);
        }
      }
    }
  }
}

// A line of 16 columns after the other would be read from rows that lie apart.
TEST_CASE("of a matrix that a row is multiplied with whole rows are read") {
  const Shape row{kProducts, 256}, matrix{kProducts, 256, 64},
      out{kProducts, 64};
  const RowProduct product(256, 64, 0, 64);
  const Store store = {0, {0, 0}, out.dims(), product.value};
  const auto operand = [](const Shape& shape) {
    return NestOperand{DType::kF32, Layout::RowMajor(shape)};
  };
  const NestOutput output = {2, {&store}, false};
  const LoopNest nest =
      ScheduleNest({&output, 1}, out,
                   std::vector{operand(row), operand(matrix), operand(out)},
                   ResolveTarget("x86-64-v4")->machine, kTaskRanges, true);
  CHECK(nest.lanes == 64);
  CHECK(nest.one_vector);
}

}  // namespace mxc::test
