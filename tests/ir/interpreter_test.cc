// SPDX-License-Identifier: Apache-2.0
#include "ir/program/interpreter.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "ir/program/add_buffer.h"
#include "ir/program/definition.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/tile_loop.h"

namespace mxc {
namespace {

int AddF32(Program& program, std::string name, Shape shape, BufferKind kind) {
  return AddBuffer(program, std::move(name), {DType::kF32, shape}, kind);
}

std::vector<float> Iota(int64_t n) {
  std::vector<float> values(n);
  for (int64_t i = 0; i < n; ++i) {
    values[i] = std::sin(static_cast<float>(i) * 1.7f) * 3;
  }
  return values;
}

TEST_CASE("softmax over the last axis") {
  Program p;
  const Shape shape{5, 700};
  Step step;
  step.inputs = {AddF32(p, "x", shape, BufferKind::kInput)};
  step.outputs = {AddF32(p, "y", shape, BufferKind::kOutput)};
  const Expr n = Var(0), c = Var(1);
  const auto x = [&](Expr i) { return Load(0, DType::kF32, {n, i}); };
  const Expr top = Definition::MaxOf({700}, [&](auto r) { return x(r[0]); });
  const Expr sum =
      Definition::Sum({700}, [&](auto r) { return Exp(x(r[0]) - top); });
  step.body = Map{{{0, {0, 0}, shape.dims(), Exp(x(c) - top) / sum}}};
  p.steps.push_back(step);
  REQUIRE_FALSE(Verify(p).has_value());

  const auto values = Iota(3500);
  const auto outputs = Interpret(p, {{"x", Tensor::FromFloats(shape, values)}});
  REQUIRE(outputs.ok());
  for (int row = 0; row < 5; ++row) {
    double total = 0;
    for (int i = 0; i < 700; ++i)
      total += std::exp(double(values[row * 700 + i]));
    for (int i = 0; i < 700; ++i) {
      const double want = std::exp(double(values[row * 700 + i])) / total;
      CHECK((*outputs)[0].At(row * 700 + i) ==
            doctest::Approx(want).epsilon(1e-6));
    }
  }
}

TEST_CASE("a window that is clipped at the border") {
  Program p;
  Step step;
  step.inputs = {AddF32(p, "x", {6}, BufferKind::kInput)};
  step.outputs = {AddF32(p, "y", {6}, BufferKind::kOutput)};
  const Expr i = Var(0);
  const Expr sum = Definition::ReduceOver(
      ReduceOp::kSum, {Max(i - Expr(1), 0)}, {Min(i + Expr(2), 6)},
      [&](auto r) { return Load(0, DType::kF32, {r[0]}); });
  step.body = Map{{{0, {0}, {6}, sum}}};
  p.steps.push_back(step);
  const std::vector<float> x = {1, 2, 4, 8, 16, 32};
  const auto y = Interpret(p, {{"x", Tensor::FromFloats({6}, x)}});
  REQUIRE(y.ok());
  const double want[] = {3, 7, 14, 28, 56, 48};
  for (int k = 0; k < 6; ++k) CHECK((*y)[0].At(k) == want[k]);
}

TEST_CASE("a grouped, strided, dilated, padded convolution") {
  Program p;
  const int64_t h = 9, w = 7, groups = 2, in = 3, out = 4;
  Step step;
  step.inputs = {AddF32(p, "x", {2, groups * in, h, w}, BufferKind::kInput),
                 AddF32(p, "w", {groups * out, in, 3, 2}, BufferKind::kInput)};
  ContractionStep body;
  Contraction& c = body.contraction;
  c.batch = 2, c.groups = groups, c.in = in, c.out = out;
  c.input = {h, w}, c.kernel = {3, 2}, c.stride = {2, 1}, c.dilate = {1, 3};
  c.pad = {1, 2}, c.data_dilate = {1, 1};
  c.output = {(h + 2 - 3) / 2 + 1, (w + 4 - 4) + 1};
  c.data_axes = {Role::kBatch, Role::kGroupIn, Role::kSpatial0,
                 Role::kSpatial1};
  c.weight_axes = {Role::kGroupOut, Role::kIn, Role::kSpatial0,
                   Role::kSpatial1};
  c.output_axes = {Role::kBatch, Role::kGroupOut, Role::kSpatial0,
                   Role::kSpatial1};
  const int64_t oh = c.output[0], ow = c.output[1];
  step.outputs = {
      AddF32(p, "y", {2, groups * out, oh, ow}, BufferKind::kOutput)};
  body.epilogue = Max(Acc() + Constant(0.5), Constant(0));
  step.body = body;
  p.steps.push_back(step);
  REQUIRE_FALSE(Verify(p).has_value());

  const auto x = Iota(2 * 6 * h * w), k = Iota(8 * 3 * 3 * 2);
  const auto y =
      Interpret(p, {{"x", Tensor::FromFloats(p.buffers[0].type.shape, x)},
                    {"w", Tensor::FromFloats(p.buffers[1].type.shape, k)}});
  REQUIRE(y.ok());
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t m = 0; m < 8; ++m) {
      for (int64_t i = 0; i < oh; ++i) {
        for (int64_t j = 0; j < ow; ++j) {
          double sum = 0.5;
          for (int64_t q = 0; q < in; ++q) {
            for (int64_t a = 0; a < 3; ++a) {
              for (int64_t b = 0; b < 2; ++b) {
                const int64_t yy = i * 2 + a - 1, xx = j + b * 3 - 2;
                if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
                sum +=
                    double(x[((n * 6 + m / out * in + q) * h + yy) * w + xx]) *
                    k[((m * in + q) * 3 + a) * 2 + b];
              }
            }
          }
          CHECK((*y)[0].At(((n * 8 + m) * oh + i) * ow + j) ==
                doctest::Approx(std::max(0.0, sum)).epsilon(1e-6));
        }
      }
    }
  }
}

// c = 2 a, d = 3 b, out = c + d: to change b leaves c as it was.
TEST_CASE("a kept run computes again what a changed input reaches") {
  Program p;
  const Shape shape{4};
  const auto load = [](int operand) {
    return Load(operand, DType::kF32, {Var(0)});
  };
  const auto add = [&](std::vector<int> inputs, int output, Expr value) {
    Step step;
    step.inputs = std::move(inputs);
    step.outputs = {output};
    step.body = Map{{{0, {0}, shape.dims(), std::move(value)}}};
    p.steps.push_back(std::move(step));
  };
  const int a = AddF32(p, "a", shape, BufferKind::kInput);
  const int b = AddF32(p, "b", shape, BufferKind::kState);
  const int c = AddF32(p, "c", shape, BufferKind::kInternal);
  const int d = AddF32(p, "d", shape, BufferKind::kInternal);
  const int out = AddF32(p, "out", shape, BufferKind::kOutput);
  add({a}, c, load(0) * Constant(2));
  add({b}, d, load(0) * Constant(3));
  add({c, d}, out, load(0) + load(1));
  REQUIRE_FALSE(Verify(p).has_value());

  std::map<std::string, Tensor> inputs = {
      {"a", Tensor::FromFloats(shape, std::vector<float>{1, 2, 3, 4})},
      {"b", Tensor::FromFloats(shape, std::vector<float>{5, 6, 7, 8})}};
  const auto run = KeptRun::Of(p, inputs);
  REQUIRE(run.ok());
  CHECK(run->Outputs()[0].At(3) == 32);
  for (const std::string name : {"a", "b"}) {
    const auto moved =
        Tensor::FromFloats(shape, std::vector<float>{9, -1, 0.5, 2});
    const auto again = run->OutputsWith({{name, moved}});
    auto others = inputs;
    others[name] = moved;
    const auto whole = Interpret(p, others);
    REQUIRE(again.ok());
    REQUIRE(whole.ok());
    for (int i = 0; i < 4; ++i) {
      CHECK((*again)[0].At(i) == (*whole)[0].At(i));
    }
  }
  CHECK(run->Outputs()[0].At(3) == 32);
  CHECK_FALSE(
      run->OutputsWith({{"b", Tensor::Filled({DType::kF32, {3}}, 0)}}).ok());
}

TEST_CASE("layouts place every element at its own offset") {
  const Shape shape{2, 20, 5, 3};
  const Layout blocked =
      Layout::Blocked(shape, 1, 8).WithHalo({0, 0, 1, 2}, {0, 0, 1, 0});
  CHECK(blocked.elements() == 2 * 3 * 7 * 5 * 8);
  CHECK(blocked.Offset({0, 0, 0, 0}) == (1 * 5 + 2) * 8);
  CHECK(blocked.Offset({1, 9, 4, 2}) ==
        ((((1 * 3 + 1) * 7) + 5) * 5 + 4) * 8 + 1);
  CHECK(Layout::RowMajor(shape).Offset({1, 19, 4, 2}) == 2 * 20 * 5 * 3 - 1);
  CHECK(ToString(blocked) == "{0:2 1:3 2:7 3:5 1:8 halo2:1+1 halo3:2+0}");
}

TEST_CASE("a window lies where the larger tensor keeps it") {
  const Shape shape{3, 20, 6, 5};
  const Layout whole =
      Layout::Blocked(shape, 1, 4).WithHalo({0, 0, 1, 0}, {0, 0, 1, 0});
  const auto agree = [&](const Extents& begin, const Extents& extent) {
    const auto window = whole.Window(shape, begin, extent);
    REQUIRE(window.has_value());
    CHECK(window->reach() <= whole.elements());
    Extents at(4);
    const auto in_whole = [&](const Extents& index) {
      Extents sum = begin;
      for (int axis = 0; axis < 4; ++axis) sum[axis] += index[axis];
      return whole.Offset(sum);
    };
    const int64_t ahead = in_whole(at) - window->Offset(at);
    for (at[0] = 0; at[0] < extent[0]; ++at[0]) {
      for (at[1] = 0; at[1] < extent[1]; ++at[1]) {
        for (at[2] = 0; at[2] < extent[2]; ++at[2]) {
          for (at[3] = 0; at[3] < extent[3]; ++at[3]) {
            CHECK(in_whole(at) - window->Offset(at) == ahead);
          }
        }
      }
    }
    return ToString(*window);
  };
  CHECK(agree({0, 4, 0, 0}, {3, 12, 6, 5}) ==
        "{0:3 1:3 of 5 2:8 3:5 1:4 halo2:1+1}");
  CHECK(agree({0, 16, 0, 0}, {3, 4, 6, 5}) ==
        "{0:3 1:1 of 5 2:8 3:5 1:4 halo2:1+1}");
  CHECK(agree({1, 4, 0, 0}, {1, 12, 6, 5}) ==
        "{0:1 1:3 2:8 3:5 1:4 halo2:1+1}");
  CHECK(agree({0, 0, 2, 0}, {3, 20, 3, 5}) == "{0:3 1:5 2:3 of 8 3:5 1:4}");
  CHECK(agree({0, 0, 0, 0}, {3, 20, 3, 5}) ==
        "{0:3 1:5 2:4 of 8 3:5 1:4 halo2:1+0}");
  CHECK(agree({2, 8, 4, 0}, {1, 4, 2, 5}) == "{0:1 1:1 2:3 3:5 1:4 halo2:0+1}");
  CHECK(agree({0, 4, 2, 1}, {2, 8, 2, 3}) ==
        "{0:2 1:2 of 5 2:2 of 8 3:3 of 5 1:4}");
  CHECK(agree({0, 0, 0, 0}, {3, 20, 6, 5}) == ToString(whole));
  CHECK(!whole.Window(shape, {0, 2, 0, 0}, {3, 4, 6, 5}));
  CHECK(!whole.Window(shape, {0, 0, 0, 0}, {3, 6, 6, 5}));
  const auto inner = whole.Window(shape, {0, 4, 0, 0}, {3, 12, 6, 5});
  CHECK(ToString(*inner->Window({3, 12, 6, 5}, {0, 8, 0, 0}, {3, 4, 6, 5})) ==
        "{0:3 1:1 of 5 2:8 3:5 1:4 halo2:1+1}");
  CHECK(inner->WithoutGaps().elements() == inner->elements());
  CHECK(!inner->row_major());
}

// y = x + 1 and z = y · y of six rows, a part at a time; y is never there whole.
Program InTiles(const Extents& part, const Window& window, int64_t tiles) {
  const Extents whole = {6, 4};
  Program tile;
  tile.name = "net", tile.entry.purpose = Purpose::kInfer;
  Step add, square;
  const Expr x = Load(0, DType::kF32, {Var(0), Var(1)});
  add.name = "y";
  add.inputs = {AddF32(tile, "x", part, BufferKind::kInput)};
  square.outputs = {AddF32(tile, "z", part, BufferKind::kOutput)};
  add.outputs = {AddF32(tile, "y", part, BufferKind::kInternal)};
  add.body = Map{{{0, {0, 0}, part, x + Constant(1)}}};
  square.name = "z";
  square.inputs = add.outputs;
  square.body = Map{{{0, {0, 0}, part, x * x}}};
  tile.steps = {add, square};
  for (const int b : {add.inputs[0], square.outputs[0]}) {
    tile.buffers[b].layout =
        *Layout::RowMajor(Shape(whole)).Window(Shape(whole), {0, 0}, part);
  }
  tile.buffers[2].offset = 0;
  tile.places[kKernelPlace].arena_bytes = tile.lower_bound_bytes =
      tile.naive_bytes = 64;

  Program program;
  program.name = "net", program.entry.purpose = Purpose::kInfer;
  Step step;
  step.name = "y ... z";
  step.inputs = {AddF32(program, "x", whole, BufferKind::kInput)};
  step.outputs = {AddF32(program, "z", whole, BufferKind::kOutput)};
  step.body =
      TileLoop{tiles, {window, window}, std::make_shared<const Program>(tile)};
  program.steps = {step};
  return program;
}

Program TwoRowsAtATime() { return InTiles({2, 4}, {{{0, 0, 2}}}, 3); }

TEST_CASE("a loop over tiles computes what its steps do") {
  // Rows; rows, and within them columns; columns, and within them rows.
  for (const Program& program :
       {TwoRowsAtATime(), InTiles({2, 2}, {{{0, 0, 2, 2}, {1, 0, 2, 1, 2}}}, 6),
        InTiles({3, 1}, {{{1, 0, 1, 2}, {0, 0, 3, 1, 2}}}, 8)}) {
    REQUIRE_MESSAGE(!Verify(program), *Verify(program));
    CHECK(program.steps[0].flops(program) == 48);
    std::vector<float> values(24);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
    }
    const auto outputs =
        Interpret(program, {{"x", Tensor::FromFloats({6, 4}, values)}});
    REQUIRE(outputs.ok());
    for (int64_t i = 0; i < 24; ++i) {
      CHECK((*outputs)[0].At(i) == static_cast<double>((i + 1) * (i + 1)));
    }
    const auto parsed = ParseProgram(
        std::make_shared<SourceFile>(SourceFile{"loop", Print(program)}));
    REQUIRE_MESSAGE(parsed.ok(), Render(parsed.errors()));
    CHECK(Print(*parsed) == Print(program));
  }
}

TEST_CASE("tiles along two axes cover each combination once") {
  const auto error = [](const Window& window, int64_t tiles) {
    return Verify(InTiles({2, 2}, window, tiles)).value_or("");
  };
  const std::string twice =
      "step 'y ... z': window 1: tiles that do not cover an output, each "
      "element once";
  CHECK(error({{{0, 0, 2, 2}, {1, 0, 2, 1, 2}}}, 6).empty());
  CHECK(error({{{0, 0, 2, 1, 3}, {1, 0, 2, 3}}}, 6).empty());
  CHECK(error({{{0, 0, 2, 1}, {1, 0, 2, 3}}}, 6) ==
        "step 'y ... z': window 0: a part outside of its operand");
  CHECK(error({{{0, 0, 2, 1, 3}, {1, 0, 2, 1, 2}}}, 6) == twice);
  CHECK(error({{{0, 0, 2, 2}, {1, 0, 2, 1, 2}}}, 4) == twice);
  CHECK(error({{{0, 0, 2, 2}, {0, 0, 2, 1, 2}}}, 6) ==
        "step 'y ... z': window 0: a part of other axes");
}

TEST_CASE("windows cover outputs once and stay inside of operands") {
  const auto broken = [](Window x, Window z, int64_t tiles) {
    Program program = TwoRowsAtATime();
    TileLoop loop = *program.steps[0].loop();
    loop.windows = {x, z};
    loop.tiles = tiles;
    program.steps[0].body = loop;
    return Verify(program).value_or("");
  };
  const Window by_two = {{{0, 0, 2}}};
  CHECK(broken(by_two, by_two, 3).empty());
  CHECK(broken({{{0, 1, 2}}}, by_two, 3) ==
        "step 'y ... z': window 0: a part outside of its operand");
  CHECK(broken({{{0, 0, 1}}}, by_two, 3).empty());  // may overlap
  CHECK(broken(by_two, by_two, 2) ==
        "step 'y ... z': window 1: tiles that do not cover an output, each "
        "element once");
  CHECK(broken({}, by_two, 3) ==
        "step 'y ... z': window 0: a part of other axes");
}

TEST_CASE("buffers that live at once must not share bytes") {
  const auto verify = [](int64_t c, int64_t d) {
    const auto program = ParseProgram(std::make_shared<SourceFile>(SourceFile{
        "plan",
        fmt::format(R"(program @net.infer arena 192 lower 192 naive 192 {{
  buffer 0 "x" f32[16] {{0:16}} input
  buffer 1 "a" f32[16] {{0:16}} internal offset 0
  buffer 2 "b" f32[16] {{0:16}} internal offset 64
  buffer 3 "c" f32[16] {{0:16}} internal offset {}
  buffer 4 "d" f32[16] {{0:16}} internal offset {}
  buffer 5 "y" f32[16] {{0:16}} output
  step "a" (0) -> (1)
    store 0 (0) + (16) = %0[i0]
  step "b" (1) -> (2)
    store 0 (0) + (16) = %0[i0]
  step "c" (1, 2) -> (3)
    store 0 (0) + (16) = %0[i0] + %1[i0]
  step "d" (2, 3) -> (4)
    store 0 (0) + (16) = %0[i0] + %1[i0]
  step "y" (4) -> (5)
    store 0 (0) + (16) = %0[i0]
}}
)",
                    c, d)}));
    REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
    return Verify(*program).value_or("");
  };
  CHECK(verify(128, 0).empty());
  CHECK(verify(128, 64) == "buffers 2 and 4 overlap while both live");
  CHECK(verify(32, 128) == "buffers 2 and 3 overlap while both live");
  CHECK(verify(128, 192) == "buffer 4 lies outside the arena");
}

TEST_CASE("the verifier names what is broken") {
  Program p;
  Step step;
  step.name = "copy";
  step.inputs = {AddF32(p, "x", {4}, BufferKind::kInput)};
  step.outputs = {AddF32(p, "y", {4}, BufferKind::kOutput)};
  step.body = Map{{{0, {0}, {3}, Load(0, DType::kF32, {Var(0)})}}};
  p.steps.push_back(step);
  CHECK(*Verify(p) == "step 'copy': stores 3 of the 4 elements of output 0");
  p.steps[0].map()->stores[0].extent = {4};
  CHECK_FALSE(Verify(p).has_value());
  p.steps[0].map()->stores[0].value = Load(0, DType::kF32, {Var(1)});
  CHECK(*Verify(p) == "step 'copy': variable 1 is unbound");
}

}  // namespace
}  // namespace mxc
