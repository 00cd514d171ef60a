// SPDX-License-Identifier: Apache-2.0
// Copies that exchange what is contiguous: weights into panels, activations
// into channel blocks.
#include <doctest/doctest.h>

#include "codegen/cpu/transpose_kernel.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

struct Copy {
  Shape shape;
  std::vector<Layout::Dim> dims;
};

Layout LayoutOf(const Copy& copy) {
  Layout layout;
  layout.dims = copy.dims;
  layout.halo_low.assign(copy.shape.dims().size(), 0);
  layout.halo_high = layout.halo_low;
  return layout;
}

std::vector<Copy> Copies() {
  return {
      // Panels of 16 or 32 rows of a matrix, its rows full panels or not.
      {{64, 40}, {{0, 2}, {1, 40}, {0, 32}}},
      {{50, 37}, {{0, 4}, {1, 37}, {0, 16}}},
      {{9, 8}, {{0, 1}, {1, 8}, {0, 16}}},
      {{3, 50, 37}, {{0, 3}, {1, 4}, {2, 37}, {1, 16}}},
      // A convolution's weight, and the same for the gradient of its data.
      {{32, 16, 3, 3}, {{0, 2}, {1, 2}, {2, 3}, {3, 3}, {1, 8}, {0, 16}}},
      {{40, 20, 3, 3}, {{0, 3}, {1, 3}, {2, 3}, {3, 3}, {1, 8}, {0, 16}}},
      {{40, 20, 3, 3}, {{1, 2}, {0, 5}, {2, 3}, {3, 3}, {0, 8}, {1, 16}}},
      {{37, 20, 5, 4}, {{1, 2}, {0, 5}, {2, 5}, {3, 4}, {0, 8}, {1, 16}}},
      {{20, 3, 7, 7}, {{0, 2}, {1, 3}, {2, 7}, {3, 7}, {0, 16}}},
      {{48, 24, 1, 1}, {{0, 3}, {1, 3}, {2, 1}, {3, 1}, {1, 8}, {0, 16}}},
      // Activations.
      {{2, 20, 5, 9}, {{0, 2}, {1, 3}, {2, 5}, {3, 9}, {1, 8}}},
      {{2, 32, 7, 7}, {{0, 2}, {1, 2}, {2, 7}, {3, 7}, {1, 16}}},
  };
}

TEST_CASE("copies that transpose") {
  for (const Copy& copy : Copies()) {
    CAPTURE(ToString(copy.shape));
    CAPTURE(ToString(LayoutOf(copy)));
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
      CAPTURE(ShortName(dtype));
      const TensorType type = {dtype, copy.shape};
      MapCase test;
      const int in = test.In(type);
      test.Out(type, LayoutOf(copy));
      test.Set(test.At(in));
      for (const Target& target : RunnableTargets()) {
        CHECK(test.Check(target) == "");
      }
    }
  }
}

// As the gradient of a convolution's data reads its filters, in one axis, in both,
// and in an axis that the layout cuts.
TEST_CASE("copies that transpose and flip") {
  for (const Copy& copy : Copies()) {
    CAPTURE(ToString(copy.shape));
    CAPTURE(ToString(LayoutOf(copy)));
    const int rank = copy.shape.rank();
    for (int flipped = 1; flipped < 1 << rank; ++flipped) {
      CAPTURE(flipped);
      MapCase test;
      const int in = test.In({DType::kF32, copy.shape});
      test.Out({DType::kF32, copy.shape}, LayoutOf(copy));
      std::vector<Expr> index;
      for (int axis = 0; axis < rank; ++axis) {
        const Expr last(copy.shape[axis] - 1);
        index.push_back((flipped >> axis & 1) != 0 ? last - Var(axis)
                                                   : Var(axis));
      }
      test.Set(Load(in, DType::kF32, index));
      for (const Target& target : RunnableTargets()) {
        CHECK(test.Check(target) == "");
      }
    }
  }
}

// Keys of attention: x[t, head · d + k] ─► y[head, k, t], packed or not.
TEST_CASE("heads that are transposed as they are told apart") {
  constexpr int64_t kHeads = 3, kSize = 16, kRows = 40;
  const Shape shape = {kHeads, kSize, kRows};
  for (const std::vector<Layout::Dim>& dims :
       {std::vector<Layout::Dim>{{0, kHeads}, {1, kSize}, {2, kRows}},
        std::vector<Layout::Dim>{{0, kHeads}, {2, 3}, {1, kSize}, {2, 16}},
        std::vector<Layout::Dim>{{0, kHeads}, {2, 5}, {1, kSize}, {2, 8}}}) {
    MapCase test;
    const int in = test.In({DType::kF32, Shape{kRows, kHeads * kSize}});
    test.Out({DType::kF32, shape}, LayoutOf({shape, dims}));
    test.Set(Load(in, DType::kF32, {Var(2), Var(0) * Expr(kSize) + Var(1)}));
    for (const Target& target : RunnableTargets()) {
      CHECK(test.Check(target) == "");
    }
  }
}

// The same where the first axis counts heads of images.
TEST_CASE("heads of several images") {
  constexpr int64_t kImages = 2, kHeads = 3, kSize = 16, kRows = 40;
  const Shape shape = {kImages * kHeads, kSize, kRows};
  const Expr image = Var(0) / Expr(kHeads), head = Var(0) % Expr(kHeads);
  for (const std::vector<Layout::Dim>& dims :
       {std::vector<Layout::Dim>{{0, 6}, {1, kSize}, {2, kRows}},
        std::vector<Layout::Dim>{{0, 6}, {2, 5}, {1, kSize}, {2, 8}},
        std::vector<Layout::Dim>{{0, 2}, {1, kSize}, {2, kRows}, {0, 3}}}) {
    MapCase test;
    const int in =
        test.In({DType::kF32, Shape{kImages * kRows, kHeads * kSize}});
    test.Out({DType::kF32, shape}, LayoutOf({shape, dims}));
    test.Set(Load(in, DType::kF32,
                  {image * Expr(kRows) + Var(2), head * Expr(kSize) + Var(1)}));
    for (const Target& target : RunnableTargets()) {
      CHECK(test.Check(target) == "");
    }
  }
}

}  // namespace
}  // namespace mxc::test
