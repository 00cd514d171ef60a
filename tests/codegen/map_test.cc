// SPDX-License-Identifier: Apache-2.0
// Map steps: every kind of access, layout and loop, against the interpreter.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "codegen/backend.h"
#include "tests/codegen/map_case.h"
#include "tests/codegen/native_kernel.h"
#include "tests/support/positions.h"

namespace mxc::test {
namespace {

Layout Halo(const Shape& shape, int64_t block, int64_t low, int64_t high) {
  return Blocked(shape, block).WithHalo({0, 0, low, low}, {0, 0, high, high});
}

Expr TypedRelu(Expr x) { return Max(x, Lit(0, x)); }

}  // namespace

TEST_CASE("an elementwise chain over any number of elements") {
  for (const int64_t n : {1, 2, 3, 7, 8, 15, 16, 17, 100, 4099}) {
    CAPTURE(n);
    MapCase c;
    const int x = c.In({n}), y = c.In({n});
    c.Out({n});
    c.Set(TypedRelu(c.At(x) * c.At(y) + Lit(0.5, c.At(x))));
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("an expression that shares its parts many times over") {
  for (const int depth : {5, 60}) {
    MapCase c;
    const int x = c.In({3, 40});
    c.Out({3, 40});
    Expr y = c.At(x);
    for (int i = 0; i < depth; ++i) {
      y = Select(y < Constant(0), y * Constant(0.5), y - y * Constant(0.01));
    }
    c.Set(y);
    if (depth == 5) {
      CHECK(c.CheckAll() == "");
      continue;
    }
    // The interpreter visits shared parts again and again; code is emitted
    // once.
    const Target target = *ResolveTarget("x86-64-v3");
    const Program& program = c.program();
    const KernelPlan plan =
        CpuBackend().Plan(program, program.steps[0], target, {});
    const NativeKernel kernel(target, plan.write);
    CHECK(kernel.object_bytes() < 20000);
  }
}

TEST_CASE("a large tensor is dealt to many tasks") {
  MapCase c;
  const int x = c.In({3, 50, 50, 70});
  c.Out({3, 50, 50, 70});
  c.Set(Tanh(c.At(x)));
  CHECK(c.CheckAll() == "");
}

// Servers of a job update a part of a parameter by some of the tasks.
TEST_CASE("a task of an even kernel writes its share of the elements alone") {
  constexpr int64_t kCount = 1 << 20;
  MapCase c;
  const int x = c.In({1024, kCount / 1024});
  c.Out({1024, kCount / 1024});
  c.Set(c.At(x) * Constant(2));
  const Target target = RunnableTargets().back();
  const KernelPlan plan =
      CpuBackend().Plan(c.program(), c.program().steps[0], target, {});
  REQUIRE(plan.even);
  REQUIRE(plan.tasks > 1);
  const NativeKernel kernel(target, plan.write);
  KernelVector<float> ones(kCount, 1), written(kCount, 0);
  kernel.Run({ones.data(), written.data()}, 1, 3);
  const int64_t share = kCount / plan.tasks;
  for (int64_t i = 0; i < kCount; ++i) {
    const bool is_written = i >= share && i < 3 * share;
    REQUIRE(written[size_t(i)] == (is_written ? 2 : 0));
  }
}

TEST_CASE("a kernel whose last task has less is not even") {
  MapCase c;
  const int x = c.In({1'000'003});
  c.Out({1'000'003});
  c.Set(c.At(x) * Constant(2));
  const Target target = *ResolveTarget("x86-64-v3");
  CHECK(!CpuBackend().Plan(c.program(), c.program().steps[0], target, {}).even);
}

TEST_CASE("elementwise between layouts") {
  const Shape shape{2, 20, 5, 7};
  const std::vector<Layout> layouts = {
      Layout::RowMajor(shape), Blocked(shape, 8),    Blocked(shape, 16),
      Blocked(shape, 4),       Halo(shape, 8, 1, 2), Halo(shape, 1, 2, 1)};
  for (const Layout& from : layouts) {
    for (const Layout& to : layouts) {
      CAPTURE(ToString(from));
      CAPTURE(ToString(to));
      MapCase c;
      const int x = c.In({DType::kF32, shape}, from);
      const int bias = c.In({20});
      c.Out({DType::kF32, shape}, to);
      c.Set(Exp(c.At(x)) + c.At(bias, {Var(1)}));
      CHECK(c.CheckAll() == "");
    }
  }
}

TEST_CASE("broadcasts of every pattern") {
  const Shape shape{3, 5, 9};
  for (int pattern = 0; pattern < 8; ++pattern) {
    CAPTURE(pattern);
    MapCase c;
    const int x = c.In(shape);
    Extents small;
    std::vector<Expr> index;
    for (int a = 0; a < 3; ++a) {
      const bool keep = pattern >> a & 1;
      small.push_back(keep ? shape[a] : 1);
      index.push_back(keep ? Var(a) : Expr(0));
    }
    const int y = c.In(Shape(small));
    c.Out(shape);
    c.Set(c.At(x) - c.At(y, index));
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("reductions over every subset of the axes") {
  const Shape shape{3, 6, 4, 37};
  for (int subset = 1; subset < 16; ++subset) {
    for (const ReduceOp op :
         {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProduct}) {
      CAPTURE(subset);
      CAPTURE(static_cast<int>(op));
      MapCase c;
      const int x = c.In(shape);
      Extents kept;
      std::vector<Expr> index;
      std::vector<Range> ranges;
      for (int a = 0; a < 4; ++a) {
        if (subset >> a & 1) {
          ranges.push_back({FreshReductionVar(), 0, Expr(shape[a])});
          index.push_back(Var(ranges.back().var));
        } else {
          index.push_back(Var(static_cast<int>(kept.size())));
          kept.push_back(shape[a]);
        }
      }
      c.Out(Shape(kept));
      const Expr element = c.At(x, index);
      c.Set(Reduce(op, ranges,
                   op == ReduceOp::kProduct
                       ? element * Lit(0.1, element) + Lit(1, element)
                       : element));
      CHECK(c.CheckAll(1e-5) == "");
    }
  }
}

TEST_CASE("softmax along each axis, maximum and sum hoisted") {
  const Shape shape{4, 13, 21};
  for (int axis = 0; axis < 3; ++axis) {
    CAPTURE(axis);
    MapCase c;
    const int x = c.In(shape);
    c.Out(shape);
    const auto at = [&](const Expr& r) {
      std::vector<Expr> index = {Var(0), Var(1), Var(2)};
      index[static_cast<size_t>(axis)] = r;
      return c.At(x, index);
    };
    const auto largest = [&] { return MaxOver(shape[axis], at); };
    const Expr sum = SumOver(
        shape[axis], [&](const Expr& r) { return Exp(at(r) - largest()); });
    c.Set(Exp(c.At(x) - largest()) / sum);
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("softmax over channels of a blocked layout") {
  const Shape shape{2, 24, 3, 5};
  for (const int64_t block : {1, 8, 16}) {
    CAPTURE(block);
    MapCase c;
    const int x = c.In({DType::kF32, shape}, Blocked(shape, block));
    c.Out({DType::kF32, shape}, Blocked(shape, block));
    const auto at = [&](const Expr& r) {
      return c.At(x, {Var(0), r, Var(2), Var(3)});
    };
    const Expr sum = SumOver(24, [&](const Expr& r) { return Exp(at(r)); });
    c.Set(Exp(c.At(x)) / sum);
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("layer norm") {
  const int64_t n = 100;
  MapCase c;
  const int x = c.In({7, n}), gamma = c.In({n}), beta = c.In({n});
  c.Out({7, n});
  const auto mean = [&] {
    return SumOver(n, [&](const Expr& r) { return c.At(x, {Var(0), r}); }) *
           Constant(1.0 / n);
  };
  const Expr variance = SumOver(n,
                                [&](const Expr& r) {
                                  const Expr d = c.At(x, {Var(0), r}) - mean();
                                  return d * d;
                                }) *
                        Constant(1.0 / n);
  c.Set((c.At(x) - mean()) / Sqrt(variance + Constant(1e-5)) *
            c.At(gamma, {Var(1)}) +
        c.At(beta, {Var(1)}));
  CHECK(c.CheckAll(1e-5) == "");
}

// Blocks that do not divide the number of channels, taken apart by a flat
// index.
TEST_CASE("means of blocked channels become a row") {
  for (const int64_t channels : {1000, 40, 24, 20, 18, 17}) {
    CAPTURE(channels);
    const Shape data{2, channels, 3, 5}, out{2, channels};
    MapCase c;
    const int x = c.In({DType::kF32, data}, Blocked(data, 16));
    c.Out(out);
    c.Set(SumOver(3, [&](Expr i) {
      return SumOver(5,
                     [&](Expr j) { return c.At(x, {Var(0), Var(1), i, j}); });
    }));
    CHECK(c.CheckAll() == "");
  }
}

// Borders, what fills up blocks, and vectors that end with a row: nothing of
// the larger tensors is written or read.
TEST_CASE("windows of larger tensors") {
  const Shape shape{2, 12, 9, 11};
  for (const int64_t block : {1, 8}) {
    CAPTURE(block);
    const Layout bordered =
        Blocked(shape, block).WithHalo({0, 0, 1, 2}, {0, 0, 2, 1});
    for (const auto& [from, to] :
         {std::pair(AsWindow(bordered), bordered),
          std::pair(Blocked(shape, block), AsWindow(bordered)),
          std::pair(AsWindow(Blocked(shape, block)), AsWindow(bordered)),
          std::pair(AsWindow(bordered), Layout::RowMajor(shape)),
          std::pair(Layout::RowMajor(shape),
                    AsWindow(Blocked(shape, block)))}) {
      CAPTURE(ToString(from));
      CAPTURE(ToString(to));
      MapCase copy, sum;
      copy.In({DType::kF32, shape}, from);
      copy.Out({DType::kF32, shape}, to);
      copy.Set(copy.At(0));
      CHECK(copy.CheckAll() == "");
      sum.In({DType::kF32, shape}, from);
      sum.In({DType::kF32, shape}, to);
      sum.Out({DType::kF32, shape}, to);
      sum.Set(sum.At(0) * sum.At(1) + Constant(1));
      CHECK(sum.CheckAll() == "");
    }
  }
}

TEST_CASE("pooling windows clipped at the borders") {
  const Shape data{2, 12, 9, 11};
  for (const int64_t block : {1, 8}) {
    for (const int64_t stride : {1, 2}) {
      for (const bool max : {true, false}) {
        CAPTURE(block);
        CAPTURE(stride);
        CAPTURE(max);
        const int64_t height = (9 + 2 - 3) / stride + 1;
        const int64_t width = (11 + 2 - 3) / stride + 1;
        const Shape out{2, 12, height, width};
        MapCase c;
        const int x = c.In({DType::kF32, data}, Blocked(data, block));
        c.Out({DType::kF32, out}, Blocked(out, block));
        const Expr top = Var(2) * Expr(stride) - Expr(1);
        const Expr left = Var(3) * Expr(stride) - Expr(1);
        const Range rows{FreshReductionVar(), Max(Expr(0), top),
                         Min(Expr(9), top + Expr(3))};
        const Range columns{FreshReductionVar(), Max(Expr(0), left),
                            Min(Expr(11), left + Expr(3))};
        const Expr element =
            c.At(x, {Var(0), Var(1), Var(rows.var), Var(columns.var)});
        if (max) {
          c.Set(Reduce(ReduceOp::kMax, {rows, columns}, element));
        } else {
          const Expr count =
              (rows.end - rows.begin) * (columns.end - columns.begin);
          c.Set(Reduce(ReduceOp::kSum, {rows, columns}, element) /
                Cast(count, DType::kF32));
        }
        CHECK(c.CheckAll() == "");
      }
    }
  }
}

// Tasks are rows of all channels: fewer rows than tasks, as many, more.
TEST_CASE("one image in blocks of channels is dealt by rows") {
  for (const int64_t height : {3, 13, 40}) {
    for (const int64_t block : {8, 16}) {
      CAPTURE(height);
      CAPTURE(block);
      const Shape shape{1, 80, height, 50};
      MapCase pool;
      const int x = pool.In({DType::kF32, shape}, Blocked(shape, block));
      pool.Out({DType::kF32, shape}, Halo(shape, block, 1, 2));
      const auto window = [](int axis, int64_t extent) {
        return Range{FreshReductionVar(), Max(Expr(0), Var(axis) - Expr(1)),
                     Min(Expr(extent), Var(axis) + Expr(2))};
      };
      const Range rows = window(2, height), columns = window(3, 50);
      pool.Set(Reduce(
          ReduceOp::kMax, {rows, columns},
          pool.At(x, {Var(0), Var(1), Var(rows.var), Var(columns.var)})));
      CHECK(pool.CheckAll() == "");

      MapCase scale;
      const int y = scale.In({DType::kF32, shape}, Blocked(shape, block));
      const int gamma = scale.In({80});
      scale.Out({DType::kF32, shape}, Blocked(shape, block));
      scale.Set(TypedRelu(scale.At(y) * scale.At(gamma, {Var(1)})));
      CHECK(scale.CheckAll() == "");
      const Target target =
          *ResolveTarget(block == 8 ? "x86-64-v3" : "x86-64-v4");
      const Program& program = pool.program();
      CHECK(CpuBackend().Plan(program, program.steps[0], target, {}).tasks > 1);
    }
  }
}

TEST_CASE("gathers: embedding and take with clipped indices") {
  MapCase c;
  const int ids = c.In({DType::kI32, Shape{5, 3}}, Layout::RowMajor({5, 3}),
                       [](int64_t i) { return (i * 7) % 13 - 1; });
  const int table = c.In({11, 20});
  c.Out({5, 3, 20});
  const Expr row = Max(
      Expr(0), Min(Expr(10), Cast(c.At(ids, {Var(0), Var(1)}), DType::kI64)));
  c.Set(c.At(table, {row, Var(2)}));
  CHECK(c.CheckAll() == "");

  MapCase along;
  const int index = along.In({DType::kF32, Shape{19}}, Layout::RowMajor({19}),
                             [](int64_t i) { return (i * 5) % 23; });
  const int values = along.In({4, 23});
  along.Out({4, 19});
  along.Set(
      along.At(values, {Var(0), Cast(along.At(index, {Var(1)}), DType::kI64)}));
  CHECK(along.CheckAll() == "");
}

TEST_CASE("space to depth: blocks of channels read in runs") {
  struct Case {
    int64_t colours, size, factor, block, shift;
  };
  for (const Case& k :
       {Case{3, 12, 2, 16, 0}, Case{3, 12, 2, 8, 0}, Case{4, 8, 2, 16, 1},
        Case{3, 16, 4, 16, 2}, Case{1, 16, 4, 16, 0}, Case{2, 16, 8, 16, 3},
        Case{3, 12, 2, 4, 0}, Case{1, 12, 2, 2, 0}, Case{3, 9, 3, 9, 0}}) {
    CAPTURE(k.colours);
    CAPTURE(k.factor);
    CAPTURE(k.block);
    const int64_t f = k.factor, places = (k.size + k.shift + f - 1) / f;
    MapCase c;
    const int x = c.In({2, k.colours, k.size, k.size});
    const Shape shape{2, k.colours * f * f, places, places};
    c.Out({DType::kF32, shape}, Halo(shape, k.block, 1, 2));
    const Expr across = Var(1) / Expr(f);
    const Expr row = Var(2) * Expr(f) + across % Expr(f) - Expr(k.shift);
    const Expr column = Var(3) * Expr(f) + Var(1) % Expr(f) - Expr(k.shift);
    const Expr pixel = c.At(x, {Var(0), across / Expr(f), row, column});
    const auto within = [&](const Expr& i) {
      return Expr(0) <= i && i < Expr(k.size);
    };
    c.Set(k.shift == 0
              ? pixel
              : Select(within(row) && within(column), pixel, Lit(0, pixel)));
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("transposes and reversals") {
  const Shape shape{5, 6, 18};
  const std::vector<std::vector<int>> orders = {
      {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    MapCase c;
    const int x = c.In(shape);
    Extents out(3);
    std::vector<Expr> index(3, Expr(0));
    for (size_t a = 0; a < 3; ++a) {
      out[a] = shape[order[a]];
      index[static_cast<size_t>(order[a])] = Var(static_cast<int>(a));
    }
    c.Out(Shape(out));
    c.Set(c.At(x, index));
    CHECK(c.CheckAll() == "");
  }
  MapCase c;
  const int x = c.In(shape);
  c.Out(shape);
  c.Set(c.At(x, {Expr(4) - Var(0), Var(1), Expr(17) - Var(2)}));
  CHECK(c.CheckAll() == "");
}

TEST_CASE("boxes: concatenation along each axis, blocks split unevenly") {
  for (int axis = 0; axis < 4; ++axis) {
    for (const int64_t block : {1, 8, 16}) {
      CAPTURE(axis);
      CAPTURE(block);
      const auto with = [&](int64_t extent) {
        Shape shape{2, 16, 3, 5};
        shape[axis] = extent;
        return shape;
      };
      const Shape out = with(20 + 8 + 3);
      MapCase c;
      std::vector<int> parts;
      for (const int64_t extent : {20, 8, 3}) {
        const Shape shape = with(extent);
        parts.push_back(c.In({DType::kF32, shape}, Blocked(shape, block)));
      }
      c.Out({DType::kF32, out}, Blocked(out, block));
      int64_t begin = 0;
      for (const int part : parts) {
        const Shape& shape =
            c.program().buffers[static_cast<size_t>(part)].type.shape;
        Extents at(4, 0);
        std::vector<Expr> index = {Var(0), Var(1), Var(2), Var(3)};
        const auto a = static_cast<size_t>(axis);
        at[a] = begin;
        index[a] = Var(axis) - Expr(begin);
        c.Box(0, at, shape.dims(), TypedRelu(c.At(part, index)));
        begin += shape[axis];
      }
      CHECK(c.CheckAll() == "");
    }
  }
}

TEST_CASE("boxes of one element, which all lanes of a vector read") {
  for (const int64_t rows : {1, 3}) {
    for (const int64_t width : {1, 2, 15, 16, 31, 96}) {
      CAPTURE(rows);
      CAPTURE(width);
      MapCase c;
      const int one = c.In({rows, 1}), row = c.In({rows, width});
      const int both = c.In({rows, 2 * width});
      c.Out({rows, width + 2});
      c.Box(0, {0, 0}, {rows, 1}, c.At(one));
      c.Box(0, {0, 1}, {rows, width}, c.At(row, {Var(0), Var(1) - Expr(1)}));
      c.Box(0, {0, width + 1}, {rows, 1},
            c.At(both, {Var(0), (Var(1) - Expr(width + 1)) * Expr(3)}));
      CHECK(c.CheckAll() == "");
    }
  }
}

TEST_CASE("padding with a constant, by a select around the load") {
  MapCase c;
  const int x = c.In({3, 6, 9});
  c.Out({3, 9, 14});
  const Expr row = Var(1) - Expr(1), column = Var(2) - Expr(2);
  const Expr inside =
      Expr(0) <= row && row < Expr(6) && Expr(0) <= column && column < Expr(9);
  c.Set(Select(inside, c.At(x, {Var(0), row, column}), Constant(3)));
  CHECK(c.CheckAll() == "");
}

TEST_CASE("windows that begin before their operand, on one side of a select") {
  // Of 9 columns, windows of about 9 / 7 each, behind three of padding.
  for (const bool last : {false, true}) {
    CAPTURE(last);
    MapCase c;
    const int x = c.In({5, 9});
    c.Out({5, 10});
    const Expr column = Var(1) - Expr(3);
    const int r = FreshReductionVar();
    const Expr sum = Reduce(ReduceOp::kSum,
                            {{r, column * Expr(9) / Expr(7),
                              (column * Expr(9) + Expr(15)) / Expr(7)}},
                            c.At(x, {Var(0), Var(r)}));
    const Expr inside = last ? Expr(3) <= Var(1) && Var(0) < Expr(4)
                             : Var(0) < Expr(4) && Expr(0) <= column;
    c.Set(Select(inside, sum, Constant(0.5)));
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("reshapes between layouts") {
  const Shape from{2, 20, 3, 7};
  for (const int64_t block : {1, 8, 16}) {
    CAPTURE(block);
    MapCase c;
    const int x = c.In({DType::kF32, from}, Blocked(from, block));
    c.Out({2, 420});
    const Expr j = Var(1);
    c.Set(c.At(x, {Var(0), j / Expr(21), j / Expr(7) % Expr(3), j % Expr(7)}));
    CHECK(c.CheckAll() == "");

    MapCase back;
    const int y = back.In({2, 420});
    back.Out({DType::kF32, from}, Blocked(from, block));
    back.Set(
        back.At(y, {Var(0), Var(1) * Expr(21) + Var(2) * Expr(7) + Var(3)}));
    CHECK(back.CheckAll() == "");
  }
}

TEST_CASE("element types, converted when they are loaded and stored") {
  const std::vector<DType> types = {DType::kF32,  DType::kF64, DType::kF16,
                                    DType::kBF16, DType::kI8,  DType::kU8,
                                    DType::kI32,  DType::kI64, DType::kBool};
  for (const DType from : types) {
    for (const DType to : types) {
      CAPTURE(ShortName(from));
      CAPTURE(ShortName(to));
      MapCase c;
      const Shape shape{3, 19};
      const int x = c.In(TensorType{from, shape});
      c.Out({to, shape}, Layout::RowMajor(shape));
      c.Set(Cast(c.At(x), to));
      CHECK(c.CheckAll() == "");
    }
  }
}

TEST_CASE("bf16 is the nearest, of two the even one") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<double, double>> kRounded = {
      {1, 1},
      {1 + 0x1p-8, 1},
      {1 + 0x3p-8, 1 + 0x1p-6},
      {1 + 0x1p-8 + 0x1p-23, 1 + 0x1p-7},
      {-1 - 0x3p-8, -1 - 0x1p-6},
      {-1 - 0x3p-8 + 0x1p-23, -1 - 0x1p-7},
      {2 - 0x1p-23, 2},
      {0x1.fep127, 0x1.fep127},
      {0x1.fffffep127, infinity},
      {-infinity, -infinity},
      {0x1p-126, 0x1p-126},
  };
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    MapCase c;
    const Shape shape{37};  // vectors, and what fills none
    const auto rounded = [&](int64_t i) {
      return kRounded[static_cast<size_t>(i) % kRounded.size()];
    };
    const int x = c.In({DType::kF32, shape}, Layout::RowMajor(shape),
                       [&](int64_t i) { return rounded(i).first; });
    c.Out({DType::kBF16, shape}, Layout::RowMajor(shape));
    c.Set(Cast(c.At(x), DType::kBF16));
    const Tensor y = c.Outputs(target)[0];
    for (int64_t i = 0; i < shape.elements(); ++i) {
      CAPTURE(i);
      CHECK(y.At(i) == rounded(i).second);
    }
  }
}

TEST_CASE("integer arithmetic rounds down and never traps") {
  MapCase c;
  const Shape shape{40};
  const auto dividend = [](int64_t i) -> double { return i - 20; };
  const auto divisor = [](int64_t i) -> double { return i % 7 - 3; };
  const TensorType type{DType::kI32, shape};
  const int x = c.In(type, Layout::RowMajor(shape), dividend);
  const int y = c.In(type, Layout::RowMajor(shape), divisor);
  for (int k = 0; k < 3; ++k) c.Out(type, Layout::RowMajor(shape));
  c.Set(c.At(x) / c.At(y));
  c.Set(c.At(x) % c.At(y));
  c.Set(Abs(c.At(x)) + Max(c.At(x), c.At(y)));
  CHECK(c.CheckAll() == "");
}

TEST_CASE("comparisons, logic, NaN and infinities") {
  MapCase c;
  const Shape shape{33};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {0, -0.0, 1, -1, nan, infinity, -infinity};
  const auto left = [&](int64_t i) {
    return values[static_cast<size_t>(i) % values.size()];
  };
  const auto right = [&](int64_t i) {
    return values[static_cast<size_t>(i / 7) % values.size()];
  };
  const TensorType type{DType::kF32, shape}, flag{DType::kBool, shape};
  const Layout layout = Layout::RowMajor(shape);
  const int x = c.In(type, layout, left), y = c.In(type, layout, right);
  for (int k = 0; k < 2; ++k) c.Out(type, layout);
  for (int k = 0; k < 3; ++k) c.Out(flag, layout);
  c.Set(Max(c.At(x), c.At(y)));
  c.Set(Min(c.At(x), Constant(0.5)));
  c.Set(c.At(x) < c.At(y) || c.At(x) == c.At(y));
  c.Set(c.At(x) != c.At(y) && c.At(y) >= Constant(0));
  c.Set(Unary(UnaryOp::kNot, Unary(UnaryOp::kIsNan, c.At(x))));
  CHECK(c.CheckAll() == "");
}

TEST_CASE("more operands than a device's kernel has parameters") {
  MapCase c;
  const Shape shape{5, 8};
  Expr sum = c.At(c.In(shape));
  for (int i = 1; i < 600; ++i) sum = sum * Constant(0.5) + c.At(c.In(shape));
  c.Out(shape);
  c.Set(sum);
  CHECK(c.CheckAll() == "");
}

TEST_CASE("the largest of a row carries NaN") {
  MapCase c;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const int x = c.In(
      {DType::kF32, Shape{6, 50}}, Layout::RowMajor({6, 50}),
      [&](int64_t i) -> double { return i % 97 == 13 ? nan : (i * 31) % 17; });
  c.Out({6});
  c.Set(MaxOver(50, [&](const Expr& r) { return c.At(x, {Var(0), r}); }));
  CHECK(c.CheckAll() == "");
}

TEST_CASE("positions of extrema: integer reductions under a condition") {
  MapCase c;
  const Shape shape{6, 23};
  const int x = c.In({DType::kF32, shape}, Layout::RowMajor(shape),
                     [](int64_t i) -> double { return (i * 31) % 19; });
  c.Out({6});
  const auto largest = [&] {
    return MaxOver(23, [&](const Expr& r) { return c.At(x, {Var(0), r}); });
  };
  const int r = FreshReductionVar();
  const Expr first = Reduce(ReduceOp::kMin, {{r, 0, 23}},
                            Select(c.At(x, {Var(0), Var(r)}) == largest(),
                                   Var(r), Expr(int64_t{23})));
  c.Set(Cast(first, DType::kF32));
  CHECK(c.CheckAll() == "");
}

}  // namespace mxc::test
