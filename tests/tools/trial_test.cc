// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/trial.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/codegen.h"
#include "ir/program/contraction_text.h"
#include "tests/tools/contractions.h"

namespace mxc {
namespace {

using Axes = std::vector<Role>;

constexpr int64_t kEvictionBytes = 1 << 20;

Contraction Convolution(int64_t batch, int64_t in, int64_t out) {
  Contraction c = SquareConvolution(in, out, 14);
  c.batch = batch;
  return c;
}

Contraction DataGradient() {
  Contraction c = Convolution(8, 64, 128);
  c.flip = true;
  c.weight_axes = {Role::kGroupIn, Role::kOut, Role::kSpatial0,
                   Role::kSpatial1};
  return c;
}

Contraction Product(const Axes& data, const Axes& weight) {
  Contraction c;
  c.batch = 64;
  c.in = 2048;
  c.out = 96;
  c.data_axes = data;
  c.weight_axes = weight;
  c.output_axes = {Role::kBatch, Role::kOut};
  return c;
}

std::vector<Contraction> Contractions() {
  Contraction grouped = Convolution(8, 64, 64);
  grouped.groups = 2;
  return {Convolution(8, 64, 128),
          Convolution(8, 3, 64),
          grouped,
          DataGradient(),
          WeightGradient(32, 64, 14),  // long sums, which are dealt in parts
          Product({Role::kBatch, Role::kIn}, {Role::kOut, Role::kIn}),
          Product({Role::kBatch, Role::kIn}, {Role::kIn, Role::kOut}),
          Product({Role::kIn, Role::kBatch}, {Role::kIn, Role::kOut})};
}

// Operands and results of each precision, widened, narrowed and mixed.
std::vector<ContractionTypes> Types() {
  constexpr DType kF32 = DType::kF32, kBF16 = DType::kBF16, kF16 = DType::kF16;
  return {{kF32, kF32, kF32, kF32},    {kF32, kF32, kF32, kBF16},
          {kBF16, kBF16, kF32, kBF16}, {kBF16, kBF16, kF32, kF32},
          {kF16, kF16, kF32, kF16},    {kF32, kBF16, kF32, kF32},
          {kF16, kF32, kF32, kF16}};
}

// Kernels that differ in more than their tile.
std::vector<KernelCandidate> KindsOf(std::vector<KernelCandidate> kernels) {
  std::set<std::tuple<std::string, int64_t, int64_t, int64_t, bool, int64_t>>
      seen;
  std::erase_if(kernels, [&](const KernelCandidate& kernel) {
    const KernelChoice& choice = kernel.choice;
    const bool is_new =
        seen.emplace(choice.algorithm, kernel.data_block, kernel.weight_block,
                     kernel.output_block, kernel.library,
                     std::min<int64_t>(kernel.parts, 2))
            .second;
    return !is_new;
  });
  return kernels;
}

// How many trials were made.
int TryAll(const Contraction& c, const KernelCatalog& catalog,
           const Target& target) {
  int made = 0;
  for (const KernelCandidate& kernel : KindsOf(catalog.Candidates(c))) {
    for (const bool constant : {false, true}) {
      if (constant && kernel.flipped_weight) continue;  // packed as it is
      CAPTURE(catalog.NameOf(kernel));
      CAPTURE(constant);
      const auto trial =
          MakeTrial(c, kernel, constant, catalog, target, kEvictionBytes);
      REQUIRE_MESSAGE(trial.ok(), Render(trial.errors()));
      const auto tried =
          std::ranges::find_if(trial->steps, [](const Step& step) {
            return IsTried(step) && step.contraction() != nullptr;
          });
      REQUIRE(tried != trial->steps.end());
      CHECK(tried->contraction()->choice == kernel.choice);
      ++made;
    }
  }
  return made;
}

}  // namespace

TEST_CASE("trial: every kernel of every precision, with any weight") {
  const struct {
    std::string target;
    bool tf32;
  } catalogs[] = {{"cuda:sm_80", true},
                  {"cuda:sm_90a", false},
                  {"x86-64-v3", false},
                  {"x86-64-v4-bf16", false},
                  {"x86-64-v4-amx", false}};
  for (const auto& [name, tf32] : catalogs) {
    CAPTURE(name);
    const auto target = ResolveTarget(name);
    REQUIRE_MESSAGE(target.ok(), Render(target.errors()));
    const auto catalog = MakeKernelCatalog(
        *target, {.options = {{"tf32", tf32 ? "on" : "off"}}});
    int made = 0;
    for (Contraction c : Contractions()) {
      for (const ContractionTypes& types : Types()) {
        c.types = types;
        CAPTURE(ToString(c));
        made += TryAll(c, *catalog, *target);
      }
    }
    CHECK(made >= 100);
  }
}

}  // namespace mxc
