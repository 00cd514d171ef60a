// SPDX-License-Identifier: Apache-2.0
// Maps of a device that read along another axis than they write: blocks turn
// tiles in their shared memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "codegen/backend.h"
#include "tests/codegen/emulated_kernel.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

bool HasTiles(MapCase& c) {
  return EmulatedPlanOf(c.program()).launch.shared_bytes > 0;
}

// y[n, c, p] of x[n, p, c].
MapCase Turned(DType dtype, int64_t images, int64_t pixels, int64_t channels) {
  MapCase c;
  const int x = c.In({dtype, {images, pixels, channels}});
  const TensorType type = {dtype, {images, channels, pixels}};
  c.Out(type, Layout::RowMajor(type.shape));
  c.Set(c.At(x, {Var(0), Var(2), Var(1)}));
  return c;
}

}  // namespace

TEST_CASE("a block turns a tile, of whatever type and size") {
  struct Size {
    int64_t images, pixels, channels;
  };
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64,
                            DType::kU8, DType::kI32, DType::kI64}) {
    CAPTURE(ShortName(dtype));
    for (const auto& [images, pixels, channels] :
         {Size{1, 64, 64}, Size{3, 49, 64}, Size{1, 33, 35}, Size{2, 200, 72},
          Size{1, 37, 130}}) {
      CAPTURE(pixels);
      CAPTURE(channels);
      MapCase c = Turned(dtype, images, pixels, channels);
      CHECK(HasTiles(c));
      CHECK(c.CheckAll() == "");
    }
  }
}

TEST_CASE("what is read along the output needs no tile, nor what is short") {
  MapCase along;
  const int x = along.In({64, 64});
  along.Out({64, 64});
  along.Set(along.At(x) + Constant(1));
  CHECK(!HasTiles(along));
  for (const auto& [pixels, channels] :
       {std::pair<int64_t, int64_t>{1000, 3}, {3, 1000}}) {
    MapCase c = Turned(DType::kF32, 2, pixels, channels);
    CHECK(!HasTiles(c));
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("a tile is one of several operands, or there are several") {
  // Two that are turned, of different types, one that is not, one of channels.
  MapCase c;
  const Shape turned = {2, 50, 48}, shape = {2, 48, 50};
  const int x = c.In(turned), y = c.In({DType::kBF16, turned}), z = c.In(shape),
            scale = c.In({shape[1]});
  c.Out(shape);
  const auto across = [&](int operand) {
    return c.At(operand, {Var(0), Var(2), Var(1)});
  };
  c.Set(Max(across(x) * c.At(scale, {Var(1)}), Constant(0)) * c.At(z) +
        Cast(across(y), DType::kF32));
  CHECK(EmulatedPlanOf(c.program()).launch.shared_bytes > 2 * 32 * 33);
  CHECK(c.CheckAll() == "");
}

TEST_CASE("elements of a part are turned, and those of a side of a select") {
  MapCase part;
  const int x = part.In({90, 70});
  part.Out({40, 48});
  part.Set(part.At(x, {Var(1) + 11, Var(0) + 17}));
  CHECK(HasTiles(part));
  CHECK(part.CheckAll() == "");

  MapCase side;
  const int a = side.In({64, 48}), b = side.In({48, 64});
  side.Out({48, 64});
  side.Set(Select(side.At(b) > Constant(0), side.At(a, {Var(1), Var(0)}),
                  side.At(b)));
  CHECK(HasTiles(side));
  CHECK(side.CheckAll() == "");
}

TEST_CASE("what would be read outside of the operand is not turned") {
  MapCase c;
  const int x = c.In({40, 48});
  c.Out({48, 64});
  c.Set(Select(Var(1) < Expr(40), c.At(x, {Var(1), Var(0)}), Constant(7)));
  CHECK(!HasTiles(c));
  CHECK(c.CheckAll() == "");
}

TEST_CASE("the barrier of a tile is needed; any order gives the same bytes") {
  MapCase c = Turned(DType::kF32, 1, 64, 96);
  const KernelPlan plan = EmulatedPlanOf(c.program());
  const EmulatedKernel kernel(EmulatedTarget(), plan.write);
  constexpr size_t kCount = 64 * 96;
  alignas(16) static float x[kCount], y[kCount];
  std::iota(x, x + kCount, 0.0F);
  const auto is_turned = [&](const EmulatedKernel::Order& order) {
    std::ranges::fill(y, -1.0F);
    REQUIRE(kernel.Run({x, y}, plan.launch, order) == "");
    for (size_t channel = 0; channel < 96; ++channel) {
      for (size_t pixel = 0; pixel < 64; ++pixel) {
        if (y[channel * 64 + pixel] != x[pixel * 96 + channel]) return false;
      }
    }
    return true;
  };
  CHECK(is_turned({}));
  CHECK(is_turned({.backwards = true, .seed = 3}));
  CHECK(!is_turned({.without_barrier = 1}));
}

}  // namespace mxc::test
