// SPDX-License-Identifier: Apache-2.0
// Steps with several outputs: one sweep for those of equal shape and layout,
// reductions over equal ranges in one loop, outputs in place of inputs.
#include <doctest/doctest.h>

#include "codegen/backend.h"
#include "codegen/cpu/task_ranges.h"
#include "codegen/cuda/gpu_machine.h"
#include "codegen/loops/scatter_kernel.h"
#include "tests/codegen/emulated_kernel.h"
#include "tests/codegen/map_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

Expr Sum(std::vector<int64_t> extents,
         const std::function<Expr(const std::vector<Expr>&)>& body) {
  std::vector<Range> ranges;
  std::vector<Expr> vars;
  for (const int64_t extent : extents) {
    ranges.push_back({FreshReductionVar(), 0, Expr(extent)});
    vars.push_back(Var(ranges.back().var));
  }
  return Reduce(ReduceOp::kSum, ranges, body(vars));
}

}  // namespace

TEST_CASE("a momentum update writes moment and weight in one sweep") {
  for (const int64_t n : {1, 7, 64, 1003, 300000}) {
    CAPTURE(n);
    MapCase c;
    const int w = c.In({n}), g = c.In({n}), m = c.In({n});
    c.Out({n});
    c.Out({n});
    const Expr next = c.At(m) * Lit(0.9, c.At(m)) + c.At(g);
    c.Set(next);
    c.Set(c.At(w) - next * Lit(0.1, next));
    CHECK(c.CheckAll() == "");
    CHECK(SweepsOf(c.program(), c.program().steps[0]).size() == 1);
  }
}

TEST_CASE("outputs of other layouts and shapes are sweeps of their own") {
  const TensorType type{DType::kF32, {2, 12, 5, 7}};
  MapCase c;
  const int x = c.In(type, Blocked(type.shape, 8));
  const Layout halo =
      Blocked(type.shape, 8).WithHalo({0, 0, 1, 1}, {0, 0, 1, 1});
  c.Out(type, halo);
  c.Out(type, halo);
  c.Out(type, Layout::RowMajor(type.shape));
  c.Out({3});
  c.Out({DType::kI32, type.shape}, halo);
  c.Set(c.At(x) + Lit(1, c.At(x)));
  c.Set(Max(c.At(x), Lit(0, c.At(x))));
  c.Set(c.At(x));
  c.Set(c.At(x, {0, 1, 2, Var(0)}));
  c.Set(Cast(c.At(x) * Lit(8, c.At(x)), DType::kI32));
  CHECK(c.CheckAll() == "");
  const auto sweeps = SweepsOf(c.program(), c.program().steps[0]);
  CHECK(sweeps == std::vector<std::vector<int>>{{0, 1, 4}, {2}, {3}});
}

TEST_CASE("sums of one sweep: channels of a blocked tensor") {
  for (const int64_t channels : {3, 8, 20, 64}) {
    CAPTURE(channels);
    const TensorType type{DType::kF32, {3, channels, 9, 13}};
    for (const bool blocked : {false, true}) {
      CAPTURE(blocked);
      MapCase c;
      const Layout layout =
          blocked ? Blocked(type.shape, 8) : Layout::RowMajor(type.shape);
      const int dy = c.In(type, layout), x = c.In(type, layout);
      const int mean = c.In({channels});
      c.Out({channels});
      c.Out({channels});
      c.Out({channels});
      const auto at = [&](int k, const std::vector<Expr>& r) {
        return c.At(k, {r[0], Var(0), r[1], r[2]});
      };
      c.Set(Sum({3, 9, 13},
                [&](const std::vector<Expr>& r) { return at(dy, r); }));
      c.Set(Sum({3, 9, 13}, [&](const std::vector<Expr>& r) {
        return at(dy, r) * (at(x, r) - c.At(mean));
      }));
      const int var = FreshReductionVar(), h = FreshReductionVar(),
                w = FreshReductionVar();
      c.Set(Reduce(ReduceOp::kMax, {{var, 0, 3}, {h, 0, 9}, {w, 0, 13}},
                   c.At(x, {Var(var), Var(0), Var(h), Var(w)})));
      CHECK(c.CheckAll(1e-5) == "");
    }
  }
}

TEST_CASE("sums of one sweep over long rows, lanes along the sum") {
  for (const int64_t n : {1, 9, 100, 4001}) {
    CAPTURE(n);
    MapCase c;
    const int x = c.In({5, n}), y = c.In({5, n});
    c.Out({5});
    c.Out({5});
    const auto row = [&](int k, Expr r) { return c.At(k, {Var(0), r}); };
    c.Set(SumOver(n, [&](Expr r) { return row(x, r) * row(y, r); }));
    c.Set(Sqrt(SumOver(n, [&](Expr r) { return row(x, r) * row(x, r); })));
    CHECK(c.CheckAll(1e-5) == "");
  }
}

TEST_CASE("all of an index is read before any of it is written") {
  constexpr int64_t kCount = 203;
  MapCase c;
  const int w = c.In({kCount}), g = c.In({kCount}), m = c.In({kCount});
  const Expr next = c.At(m) + c.At(g);
  c.Out({kCount});
  c.Out({kCount});
  c.Set(next + c.At(w));     // over m
  c.Set(c.At(w) - c.At(m));  // over w, reads the old m
  Program program = c.program();
  const Step& step = program.steps[0];
  program.buffers[static_cast<size_t>(step.outputs[0])].alias_of = m;
  program.buffers[static_cast<size_t>(step.outputs[1])].alias_of = w;
  for (const Target& target : RunnableTargets()) {
    KernelVector<float> ws(kCount), gs(kCount), ms(kCount);
    for (int i = 0; i < kCount; ++i) {
      ws[i] = static_cast<float>(i);
      gs[i] = 1000;
      ms[i] = static_cast<float>(2 * i);
    }
    const KernelPlan plan = CpuBackend().Plan(program, step, target, {});
    const NativeKernel kernel(target, plan.write);
    kernel.Run({ws.data(), gs.data(), ms.data(), ms.data(), ws.data()}, 0,
               plan.tasks);
    bool right = true;
    for (int i = 0; i < kCount; ++i) {
      right = right && ms[i] == static_cast<float>(3 * i + 1000) &&
              ws[i] == static_cast<float>(-i);
    }
    CHECK(right);
  }
}

TEST_CASE("values added up at positions") {
  for (const int64_t columns : {1, 3, 16, 70}) {
    for (const bool each : {false, true}) {
      CAPTURE(columns);
      CAPTURE(each);
      const int64_t rows = 11, count = 57;
      MapCase c;
      const int values = c.In({count, columns});
      // Also beyond the rows: these are nobody's.
      const TensorType type{DType::kF32,
                            each ? Shape{count, columns} : Shape{count}};
      const int positions =
          c.In(type, Layout::RowMajor(type.shape),
               [](int64_t i) { return static_cast<double>(i * 7 % 13 - 1); });
      c.Out({rows, columns});
      c.Set(SumOver(count, [&](Expr r) {
        const Expr at =
            each ? c.At(positions, {r, Var(1)}) : c.At(positions, {r});
        const Expr value = c.At(values, {r, Var(1)});
        return Select(Cast(at, DType::kI64) == Var(0), value * Lit(0.5, value),
                      Lit(0, value));
      }));
      CHECK(c.CheckAll() == "");
    }
  }
}

TEST_CASE("a large table of sums at positions is linear in its rows") {
  // As many positions for every row would take minutes.
  const int64_t rows = 20000, columns = 64, count = 3000;
  MapCase c;
  const int values = c.In({count, columns});
  const TensorType type{DType::kF32, {count}};
  const int positions =
      c.In(type, Layout::RowMajor(type.shape),
           [&](int64_t i) { return static_cast<double>(i * 977 % rows); });
  c.Out({rows, columns});
  c.Set(SumOver(count, [&](Expr r) {
    const Expr value = c.At(values, {r, Var(1)});
    return Select(Cast(c.At(positions, {r}), DType::kI64) == Var(0), value,
                  Lit(0, value));
  }));
  const Target target = RunnableTargets().back();
  const Program& program = c.program();
  const KernelPlan plan =
      CpuBackend().Plan(program, program.steps[0], target, {});
  CHECK(
      PlanScatter(program, program.steps[0], target, kTaskRanges).has_value());
  CHECK(plan.tasks > 1);
  // Of a device, threads that keep it busy share the rows.
  const Target device = EmulatedTarget();
  const KernelPlan threads =
      BackendOf(device).Plan(program, program.steps[0], device, {});
  CHECK(threads.tasks > GpuMachineOf(device).busy_threads() / 2);
  CHECK(threads.tasks <= GpuMachineOf(device).busy_threads());
  const NativeKernel kernel(target, plan.write);
  KernelVector<float> in(count * columns, 1), at(count), out(rows * columns);
  for (int64_t i = 0; i < count; ++i) {
    at[i] = static_cast<float>(i * 977 % rows);
  }
  kernel.Run({in.data(), at.data(), out.data()}, 0, plan.tasks);
  double total = 0;
  for (const float v : out) total += v;
  CHECK(total == count * columns);
}

}  // namespace mxc::test
