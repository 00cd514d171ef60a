// SPDX-License-Identifier: Apache-2.0
// Kernels of NVIDIA's devices, as text. What they compute is tested where maps
// are, on an emulated device.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <tuple>

#include "codegen/codegen.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

size_t Count(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

Program Named(MapCase& c, const char* name, const char* entry) {
  Program program = c.program();
  program.name = name;
  program.entry = ProgramEntry::Named(entry);
  program.steps[0].name = entry;
  program.buffers.back().kind = BufferKind::kOutput;
  return program;
}

// y = max(x, 0) + b, with b along the last axis.
Program Biased(const char* entry, Shape shape) {
  MapCase c;
  const int x = c.In(shape), bias = c.In({shape[1]});
  c.Out(shape);
  c.Set(Max(c.At(x), Constant(0)) + c.At(bias, {Var(1)}));
  return Named(c, "biased", entry);
}

std::string PtxOf(std::span<const Program> programs, const char* target,
                  int threads = 1) {
  const auto image = GenerateCode(programs, *ResolveTarget(target),
                                  {.threads = threads, .keep_assembly = true});
  REQUIRE(image.ok());
  return image->assembly;
}

}  // namespace

TEST_CASE("all kernels are one text for the device that was named") {
  const Program programs[] = {Biased("even", {6, 64}), Biased("odd", {6, 63})};
  const std::string ptx = PtxOf(programs, "cuda:sm_80");
  CHECK(Count(ptx, ".target sm_80") == 1);
  CHECK(Count(ptx, ".version 7.8") == 1);
  CHECK(Count(ptx, ".visible .entry mxc_biased_000_even_f32(") == 1);
  CHECK(Count(ptx, ".visible .entry mxc_biased_001_odd_f32(") == 1);
  CHECK(Count(ptx, ".maxntid 128") == 2);
  CHECK(Count(PtxOf(programs, "cuda:sm_90"), ".target sm_90") == 1);
}

TEST_CASE("the text is the same for any number of compile threads") {
  const Program programs[] = {Biased("a", {6, 64}), Biased("b", {6, 63}),
                              Biased("c", {5, 32})};
  CHECK(PtxOf(programs, "cuda:sm_90") == PtxOf(programs, "cuda:sm_90", 4));
}

TEST_CASE("products are rounded before they are added, as on x86-64") {
  struct Rounding {
    std::function<Expr(Expr x, Expr y)> value;
    size_t products, sums;  // instructions for one element
  };
  const Rounding roundings[] = {
      {[](Expr x, Expr y) { return x * y + y; }, 1, 1},
      {[](Expr x, Expr y) { return x * x - x * y; }, 2, 1},
      // A product that stands twice.
      {[](Expr x, Expr y) { return (x * y) * (x * y + y); }, 2, 1},
      {[](Expr x, Expr y) { return Pow(x, Constant(2)) + y; }, 1, 1},
  };
  for (const Rounding& rounding : roundings) {
    MapCase c;
    const int x = c.In({1}), y = c.In({1});
    c.Out({1});
    c.Set(rounding.value(c.At(x), c.At(y)));
    const Program programs[] = {Named(c, "rounded", "once")};
    const std::string ptx = PtxOf(programs, "cuda:sm_90");
    CHECK(Count(ptx, "mul.rn.f32") == rounding.products);
    CHECK(Count(ptx, "add.rn.f32") + Count(ptx, "sub.rn.f32") == rounding.sums);
    CHECK(Count(ptx, "fma.rn.f32") == 0);
  }
}

TEST_CASE("a thread reads and writes 16 bytes at once where it may") {
  const Program even[] = {Biased("even", {6, 64})};
  const std::string ptx = PtxOf(even, "cuda:sm_90");
  CHECK(Count(ptx, "ld.global.v4.f32") == 2);
  CHECK(Count(ptx, "st.global.v4.f32") == 1);
  CHECK(Count(ptx, "ld.global.f32") == 0);
  // Rows that begin anywhere.
  const Program odd[] = {Biased("odd", {6, 63})};
  CHECK(Count(PtxOf(odd, "cuda:sm_90"), "st.global.v4.f32") == 0);
}

// Rows of `first` elements, and behind them of `second`, with something computed
// of both.
Program Joined(const char* entry, int64_t first, int64_t second) {
  MapCase c;
  const int x = c.In({6, first}), y = c.In({6, second});
  c.Out({6, first + second});
  const Expr behind = Var(1) - Expr(first);
  c.Set(Select(Var(1) < Expr(first),
               Max(c.At(x, {Var(0), Var(1)}), Constant(0)),
               c.At(y, {Var(0), behind}) * Constant(0.5)));
  CHECK(c.CheckAll(0) == "");
  return Named(c, "joined", entry);
}

TEST_CASE("a vector that lies in one of joined rows is read from that one") {
  const Program whole[] = {Joined("whole", 64, 40)};
  const std::string ptx = PtxOf(whole, "cuda:sm_90");
  CHECK(Count(ptx, "ld.global.v4.f32") == 2);
  CHECK(Count(ptx, "ld.global.f32") == 0);
  // Vectors of which a part lies in each.
  const Program odd[] = {Joined("odd", 62, 42)};
  CHECK(Count(PtxOf(odd, "cuda:sm_90"), "ld.global.f32") > 0);
}

TEST_CASE("the device's instructions convert what has 16 bits") {
  for (const auto& [dtype, widened, narrowed] :
       {std::tuple{DType::kF16, "cvt.f32.f16", "cvt.rn.f16.f32"},
        std::tuple{DType::kBF16, "", "cvt.rn.bf16.f32"}}) {
    MapCase c;
    const Shape shape{6, 64};
    const int x = c.In({dtype, shape});
    c.Out({dtype, shape}, Layout::RowMajor(shape));
    c.Set(Cast(Cast(c.At(x), DType::kF32) * Constant(0.3), dtype));
    CHECK(c.CheckAll(0) == "");
    const Program programs[] = {Named(c, "narrow", "halves")};
    const std::string ptx = PtxOf(programs, "cuda:sm_90");
    if (*widened != 0) CHECK(Count(ptx, widened) == 8);
    CHECK(Count(ptx, narrowed) == 8);
  }
}

TEST_CASE("many operands stand in a table, and are read 16 bytes at once") {
  MapCase c;
  const Shape shape{8, 64};
  Expr sum = c.At(c.In(shape));
  for (int i = 1; i < 600; ++i) sum = sum + c.At(c.In(shape));
  c.Out(shape);
  c.Set(sum);
  Program program = c.program();
  program.name = "sum";
  program.entry.of = program.steps[0].name = "many";
  program.buffers.back().kind = BufferKind::kOutput;
  const std::string ptx = PtxOf({&program, 1}, "cuda:sm_90");
  CHECK(Count(ptx, ".param .u64") == 1);
  CHECK(Count(ptx, "ld.global.nc.v4.f32") + Count(ptx, "ld.global.v4.f32") ==
        600);
}

TEST_CASE(
    "a kernel that relies on an alignment is shared only where it holds") {
  // An output that begins 4 bytes into the root of another.
  Program apart = Biased("apart", {6, 64});
  Buffer root = apart.buffers.back();
  root.name = "root";
  root.type.shape = {6 * 64 + 1};
  root.layout = Layout::RowMajor(root.type.shape);
  apart.buffers.back().kind = BufferKind::kInternal;
  apart.buffers.back().alias_of = 3;
  apart.buffers.back().alias_begin = 4;
  apart.buffers.push_back(root);
  const Program programs[] = {Biased("even", {6, 64}), apart};
  const auto image = GenerateCode(programs, *ResolveTarget("cuda:sm_90"), {});
  REQUIRE(image.ok());
  CHECK(image->kernels.size() == 2);
  // A processor takes vectors from anywhere.
  const auto host = GenerateCode(programs, *ResolveTarget("x86-64-v3"), {});
  REQUIRE(host.ok());
  CHECK(host->kernels.size() == 1);
}

TEST_CASE("the emulated device is a target for tests alone") {
  CHECK(!ResolveTarget("cuda:emulated").ok());
  CHECK(!ResolveTarget("cuda:sm_70").ok());
}

}  // namespace mxc::test
