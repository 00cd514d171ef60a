// SPDX-License-Identifier: Apache-2.0
// Products of weights that are no constants, and large kernels on few rows.
#include <doctest/doctest.h>

#include <array>

#include "codegen/codegen.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

using Axes = std::vector<Role>;

Contraction Matrices(int64_t batch, int64_t in, int64_t out, Axes data,
                     Axes weight, Axes output) {
  Contraction c;
  c.batch = batch;
  c.in = in;
  c.out = out;
  c.data_axes = std::move(data);
  c.weight_axes = std::move(weight);
  c.output_axes = std::move(output);
  return c;
}

bool Offers(const Contraction& c, const Target& target, int64_t weight_block) {
  const auto candidates = MakeKernelCatalog(target)->Candidates(c);
  return std::ranges::any_of(candidates, [&](const KernelCandidate& k) {
    return k.weight_block == weight_block;
  });
}

template <class F>
void ForTargets(F f) {
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    f(target);
  }
}

TEST_CASE("products with the batch in lanes") {
  struct Sizes {
    int64_t rows, in, batch;
  };
  ForTargets([](const Target& target) {
    for (const auto& [rows, in, batch] :
         {Sizes{1, 1, 1}, Sizes{10, 50, 32}, Sizes{33, 70, 20},
          Sizes{29, 1024, 32}, Sizes{50, 9, 45}}) {
      CAPTURE(rows);
      CAPTURE(in);
      CAPTURE(batch);
      const Contraction c =
          Matrices(rows, in, batch, {Role::kBatch, Role::kIn},
                   {Role::kOut, Role::kIn}, {Role::kOut, Role::kBatch});
      CHECK(Offers(c, target, target.machine.lanes(DType::kF32)));
      const Expr epilogue = Acc() * Residual(c) + Bias(c);
      CHECK(Check({c, epilogue}, target, 5) == "");
      CHECK(Check({c, epilogue, 0, 0, {}, true}, target, 5) == "");
    }
  });
}

TEST_CASE("products of rows of weights as they are") {
  ForTargets([](const Target& target) {
    for (const int64_t vectors : {1, 3, 9}) {
      for (const Axes& data :
           {Axes{Role::kBatch, Role::kIn}, Axes{Role::kIn, Role::kBatch}}) {
        CAPTURE(vectors);
        CAPTURE(data[0] == Role::kIn);
        const int64_t in = vectors == 3 ? 1024 : 37;
        const Contraction c =
            Matrices(20, in, vectors * target.machine.lanes(DType::kF32), data,
                     {Role::kIn, Role::kOut}, {Role::kBatch, Role::kOut});
        CHECK(Offers(c, target, 1));
        const Expr epilogue = Acc() * Residual(c) + Bias(c);
        CHECK(Check({c, epilogue}, target, 6) == "");
        CHECK(Check({c, epilogue, 0, 0, {}, true}, target, 6) == "");
      }
    }
  });
}

// As of the gradient of a weight, over the rows of both operands: neither is packed.
TEST_CASE("products over rows, with the weight's columns in lanes") {
  ForTargets([](const Target& target) {
    const int64_t lanes = target.machine.lanes(DType::kF32);
    for (const auto& [rows, in, vectors] :
         {std::array<int64_t, 3>{2, 9, 1}, {20, 1024, 3}, {33, 50, 13}}) {
      CAPTURE(rows);
      CAPTURE(vectors);
      const auto product = [&](int64_t out) {
        return Matrices(rows, in, out, {Role::kIn, Role::kBatch},
                        {Role::kIn, Role::kOut}, {Role::kOut, Role::kBatch});
      };
      const Contraction c = product(vectors * lanes);
      CHECK(Offers(c, target, 1));
      CHECK(MakeKernelCatalog(target)
                ->Candidates(product(vectors * lanes + 1))
                .empty());
      const Expr epilogue = Acc() * Residual(c) + Bias(c);
      CHECK(Check({c, epilogue}, target, 7) == "");
      CHECK(Check({c, epilogue, 0, 0, {}, true}, target, 7) == "");
    }
  });
}

// Groups of vectors and what is left over, of a whole vector and of a part of one.
TEST_CASE("last vectors that join the group before") {
  ForTargets([](const Target& target) {
    const int64_t lanes = target.machine.lanes(DType::kF32);
    for (const int64_t vectors : {3, 5, 7, 9, 13}) {
      for (const int64_t missing : {0, 3}) {
        CAPTURE(vectors);
        CAPTURE(missing);
        const Contraction c = Matrices(
            35, 40, vectors * lanes - missing, {Role::kBatch, Role::kIn},
            {Role::kOut, Role::kIn}, {Role::kBatch, Role::kOut});
        const Expr epilogue = Acc() * Residual(c) + Bias(c);
        CHECK(Check({c, epilogue, 0, 0, {.constant_weights = true}}, target,
                    8) == "");
      }
    }
  });
}

// As of the gradient of a weight: a row for each feature, features side by side.
TEST_CASE("data whose rows lie side by side are turned where that pays") {
  const auto product = [](int64_t rows, int64_t out) {
    return Matrices(rows, 16, out, {Role::kIn, Role::kBatch},
                    {Role::kIn, Role::kOut}, {Role::kBatch, Role::kOut});
  };
  const auto turned = [](const KernelCandidate& kernel) {
    return kernel.data_block == kWholeAxis && kernel.data_axis == 0;
  };
  ForTargets([&](const Target& target) {
    const auto catalog = MakeKernelCatalog(target);
    const Contraction many = product(1100, 800), few = product(1100, 16),
                      near = product(100, 800);
    CHECK(std::ranges::all_of(catalog->Candidates(many), turned));
    CHECK(std::ranges::none_of(catalog->Candidates(few), turned));
    CHECK(std::ranges::none_of(catalog->Candidates(near), turned));
    CHECK(Check({many, Acc() + Bias(many)}, target, 5) == "");
    CHECK(Check({near, Acc() + Bias(near)}, target, 5) == "");
  });
}

TEST_CASE("large kernels on few rows need no rows beside the data") {
  ForTargets([](const Target& target) {
    for (const int64_t pad : {0, 1, 2}) {
      CAPTURE(pad);
      ConvolutionShape shape;
      shape.batch = 2;
      shape.in = 20;
      shape.out = 24;
      shape.input = {11, 12};
      shape.kernel = {5, 5};
      shape.stride = shape.dilate = {1, 1};
      shape.pad = {pad, pad};
      const Contraction c = BackwardData(shape);
      const CatalogOptions direct = {.options = {{"winograd", "0"}}};
      const auto candidates = MakeKernelCatalog(target, direct)->Candidates(c);
      REQUIRE(!candidates.empty());
      if (pad == 0) CHECK(candidates.front().halo_low == Extents{0, 4});
      CHECK(Check({c, Acc() * Residual(c) + Bias(c), 1, 1}, target, 7) == "");
    }
  });
}

}  // namespace
}  // namespace mxc::test
