// SPDX-License-Identifier: Apache-2.0
// Products of f32 with weights of fewer bits: bf16, 8 bits, blocks of 4.
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

}  // namespace
}  // namespace mxc::test
