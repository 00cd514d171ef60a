// SPDX-License-Identifier: Apache-2.0
// How many sums a tile has, which units that begin several multiply-adds in a cycle
// need until one is done.
#include <doctest/doctest.h>

#include "codegen/cpu/contraction/tile_choice.h"
#include "codegen/cpu/contraction/tiling.h"
#include "tests/codegen/contraction_case.h"

namespace mxc::test {
namespace {

constexpr const char* kCores[] = {"aarch64:cortex-a72", "aarch64:neoverse-n1",
                                  "aarch64:neoverse-v1", "aarch64:neoverse-v2"};

TEST_CASE("a tile that suits an image suits rows of it") {
  for (const char* name : kCores) {
    CAPTURE(name);
    const CpuMachine machine = CpuMachineOf(*ResolveTarget(name));
    for (const int64_t side : {14, 28, 56}) {
      CAPTURE(side);
      const auto tile = contraction::ChooseTile(machine, 1, side * side, 64);
      CHECK(contraction::TileEfficiency(machine, tile, side, side, 64) > 0.95);
    }
  }
}

TEST_CASE("a product of one row sums as many vectors as are loaded meanwhile") {
  for (const char* name : kCores) {
    CAPTURE(name);
    const Target target = *ResolveTarget(name);
    const CpuMachine machine = CpuMachineOf(target);
    const auto candidates =
        MakeKernelCatalog(target)->Candidates(Product(1, 1, 2048, 1000));
    REQUIRE_FALSE(candidates.empty());
    const auto tile = contraction::TileOf(candidates[0].choice).tile;
    CHECK(tile.pixels == 1);
    CHECK(tile.vectors >= machine.multiply_add_latency * machine.loads);
    CHECK(tile.vectors < machine.vector_registers - 1);
  }
}

// V8 loads all operands of a step first, has 15 registers, and multiplies into one
// before it adds.
TEST_CASE("in WebAssembly a tile's sums and operands fit into registers") {
  constexpr int kRegisters = 15;
  const Target target = *ResolveTarget("wasm32");
  const CpuMachine machine = CpuMachineOf(target);
  for (int vectors = 1; vectors <= machine.most_tile_vectors; ++vectors) {
    CAPTURE(vectors);
    const int pixels = contraction::MaxPixels(machine, vectors);
    CHECK(pixels * vectors + pixels + vectors + 1 <= kRegisters);
    CHECK(pixels * vectors >= 6);
  }
  for (const Contraction& c :
       {Product(1, 1, 2048, 1000), Product(1, 49, 512, 512)}) {
    for (const auto& candidate : MakeKernelCatalog(target)->Candidates(c)) {
      CAPTURE(candidate.choice.algorithm);
      const auto tile = contraction::TileOf(candidate.choice).tile;
      CHECK(tile.pixels * tile.vectors + tile.pixels + tile.vectors + 1 <=
            kRegisters);
    }
  }
}

}  // namespace
}  // namespace mxc::test
