// SPDX-License-Identifier: Apache-2.0
// Products of f32 with weights of fewer bits: bf16, 8 bits, blocks of 4. How
// weights are packed.
#include <doctest/doctest.h>

#include "tests/codegen/contraction_case.h"
#include "tests/support/levels.h"

namespace mxc::test {
namespace {

struct Sizes {
  int64_t rows, in, out;
};

// One row, fewer than a tile, several tiles; outputs that fill no vector, part
// of a panel, several panels.
constexpr Sizes kSizes[] = {{1, 96, 1},   {1, 192, 300}, {1, 384, 64},
                            {3, 96, 10},  {8, 192, 130}, {29, 192, 48},
                            {1, 1536, 20}};

template <class F>
void ForSizes(F f) {
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    for (const Sizes& sizes : kSizes) {
      CAPTURE(sizes.rows);
      CAPTURE(sizes.in);
      CAPTURE(sizes.out);
      f(target, Product(1, sizes.rows, sizes.in, sizes.out));
    }
  }
}

// Acc times a scale of the output channel.
Expr Scaled(const Contraction& c) { return Relu(Acc() * Bias(c)); }

TEST_CASE("products of f32 with weights of bf16 and 8 bits") {
  ForSizes([](const Target& target, Contraction c) {
    for (const DType weight : {DType::kBF16, DType::kI8}) {
      c.types.weight = weight;
      CHECK(!MakeKernelCatalog(target)->Candidates(c).empty());
      CHECK(Check({c, Scaled(c)}, target, 3) == "");
    }
  });
}

TEST_CASE("products of f32 with blocks of 4-bit weights") {
  ForSizes([](const Target& target, Contraction c) {
    c.types.weight = DType::kU8;
    for (const int64_t group : {2, 12, 32, 96}) {
      CAPTURE(group);
      c.int4_group = group;
      CHECK(!MakeKernelCatalog(target)->Candidates(c).empty());
      CHECK(Check({c, Scaled(c)}, target, 3) == "");
    }
  });
}

// Of every kind that kernels differ in.
std::vector<Contraction> ProductsOf(int64_t rows, int64_t in, int64_t out) {
  const Contraction plain = Product(1, rows, in, out);
  std::vector<Contraction> products(5, plain);
  products[1].types.weight = DType::kI8;
  products[2].types.weight = DType::kU8;
  products[2].int4_group = 32;
  products[3].types = {DType::kBF16, DType::kBF16, DType::kF32, DType::kF32};
  products[4].types = {DType::kU8, DType::kI8, DType::kI32, DType::kI32};
  return products;
}

// Programs for several batches share the bytes of a weight: those for one row
// and for many, by vectors and by units of matrices.
TEST_CASE("weights are packed alike for any number of rows") {
  for (const std::string name :
       {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni",
        "x86-64-v4-bf16", "x86-64-v4-amx", "aarch64", "riscv64-v"}) {
    CAPTURE(name);
    const auto catalog = MakeKernelCatalog(*ResolveTarget(name));
    for (const int64_t out : {1, 30, 64, 130, 768, 3072}) {
      CAPTURE(out);
      const std::vector<Contraction> one = ProductsOf(1, 768, out);
      for (const int64_t rows : {2, 3, 4, 7, 8, 17, 64, 300}) {
        CAPTURE(rows);
        const std::vector<Contraction> many = ProductsOf(rows, 768, out);
        for (size_t i = 0; i < one.size(); ++i) {
          CAPTURE(i);
          // Only tiles of the matrix unit read bf16 in pairs there.
          if (name == "x86-64-v4-amx" && one[i].types.data == DType::kBF16) {
            continue;
          }
          const auto few = catalog->Candidates(one[i]);
          const auto others = catalog->Candidates(many[i]);
          REQUIRE(few.empty() == others.empty());
          if (few.empty()) continue;
          CHECK(few.front().weight == others.front().weight);
        }
      }
    }
  }
}

}  // namespace
}  // namespace mxc::test
