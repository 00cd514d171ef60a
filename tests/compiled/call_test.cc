// SPDX-License-Identifier: Apache-2.0
// Matrices too large to be unrolled: LAPACK's factors, which the artifact
// imports, against the interpreter's, and against what they are factors of.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "codegen/codegen.h"
#include "runtime/library/lapack_routines.h"
#include "tests/cases/engine.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

constexpr int64_t kRows = 70, kBatch = 2;

bool HasLapack() {
  if (runtime::LoadLapack().ok()) return true;
  MESSAGE("skipped: this machine has no LAPACK");
  return false;
}

// A · Aᵀ + rows · 1 of random matrices: symmetric, positive definite.
Value Definite(Network& net, DType dtype) {
  const Value a = net.Input("a", {kBatch, kRows, kRows}, dtype);
  const Value product =
      net.Op("batch_dot", "product", {a, a}, {{"transpose_b", "True"}});
  Tensor& identity = net.inputs["identity"];
  const Value unit = net.Input("identity", {kBatch, kRows, kRows}, dtype);
  std::byte* bytes = nullptr;
  identity = Tensor::Allocate({dtype, Shape{kBatch, kRows, kRows}}, &bytes);
  for (int64_t i = 0; i < kBatch * kRows * kRows; ++i) {
    const int64_t within = i % (kRows * kRows);
    const bool diagonal = within / kRows == within % kRows;
    StoreElement(bytes + i * SizeOf(dtype), dtype,
                 diagonal ? static_cast<double>(kRows) : 0.0);
  }
  return net.Op("elemwise_add", "definite", {product, unit});
}

void CheckCompiled(const Network& net, double tolerance) {
  PassOptions required;
  required.level = 0;
  const auto expected = Run(Compile(net, required), net.inputs);
  EngineOptions options;
  options.engine = "compiled";
  const auto actual = RunGraph(net.Copy(), net.inputs, options);
  REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
  CHECK(Distance(*actual, expected) < tolerance);
}

TEST_CASE("large matrices have the factors that the interpreter finds") {
  if (!HasLapack()) return;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double tolerance = dtype == DType::kF32 ? 1e-4 : 1e-11;
    for (const char* lower : {"True", "False"}) {
      CAPTURE(lower);
      Network net;
      const Value a = Definite(net, dtype);
      const std::vector<AttrText> attrs = {{"lower", lower}};
      const Value factor = net.Op("_linalg_potrf", "potrf", {a}, attrs);
      net.Output(factor);
      net.Output(net.Op("_linalg_potri", "potri", {factor}, attrs));
      const Value right = net.Input("right", {kBatch, kRows, 3}, dtype);
      net.Output(net.Op("_linalg_trsm", "trsm", {factor, right},
                        {{"lower", lower}, {"transpose", "True"}}));
      const Value left = net.Input("left", {kBatch, 3, kRows}, dtype);
      net.Output(net.Op("_linalg_trsm", "trsm_right", {factor, left},
                        {{"lower", lower}, {"rightside", "True"}}));
      CheckCompiled(net, tolerance);
    }
    Network net;
    const Value wide = net.Input("wide", {kBatch, kRows, kRows + 5}, dtype);
    const Value q = net.Op("_linalg_gelqf", "gelqf", {wide});
    net.Output(q);
    net.Output(q.node->out(1));
    CheckCompiled(net, tolerance);
  }
}

TEST_CASE("eigenvectors of a large matrix put it together again") {
  if (!HasLapack()) return;
  Network net;
  const Value a = Definite(net, DType::kF64);
  const Value u = net.Op("_linalg_syevd", "syevd", {a});
  net.Output(a);
  net.Output(u);
  net.Output(u.node->out(1));
  CheckCompiled(net, 1e-9);
  EngineOptions options;
  options.engine = "compiled";
  const auto outputs = RunGraph(net.Copy(), net.inputs, options);
  REQUIRE(outputs.ok());
  const auto at = [&](int k, int64_t m, int64_t i, int64_t j) {
    return (*outputs)[k].At((m * kRows + i) * kRows + j);
  };
  for (int64_t m = 0; m < kBatch; ++m) {
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kRows; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < kRows; ++k) {
          sum +=
              at(1, m, k, i) * (*outputs)[2].At(m * kRows + k) * at(1, m, k, j);
        }
        CHECK(std::abs(sum - at(0, m, i, j)) < 1e-9 * kRows);
      }
    }
  }
}

// Between kernels of a device functions run on the host: the same bytes.
void CheckOnDevice(const Network& net) {
  setenv("MXC_TEST_TARGETS", "1", 1);
  EngineOptions options;
  options.engine = "compiled";
  options.target = "native";
  const auto expected = RunGraph(net.Copy(), net.inputs, options);
  REQUIRE_MESSAGE(expected.ok(), Render(expected.errors()));
  options.target = "null";
  for (const char* without : {"", "overlap-steps", "share-buffers"}) {
    options.disabled = {without};
    const auto actual = RunGraph(net.Copy(), net.inputs, options);
    REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
    for (size_t k = 0; k < expected->size(); ++k) {
      const Tensor &want = (*expected)[k], &got = (*actual)[k];
      REQUIRE(got.size_bytes() == want.size_bytes());
      CHECK(std::memcmp(got.bytes(), want.bytes(), want.size_bytes()) == 0);
    }
  }
}

TEST_CASE("what functions compute on the host reaches a device") {
  if (!HasLapack()) return;
  Network net;
  const Value a = Definite(net, DType::kF64);
  const Value factor = net.Op("_linalg_potrf", "potrf", {a});
  const Value inverse = net.Op("_linalg_potri", "potri", {factor});
  net.Output(net.Op("elemwise_mul", "product", {inverse, a}));
  net.Output(net.Op("exp", "exp", {a}));
  net.Output(factor);
  CheckOnDevice(net);
}

TEST_CASE("the side of a branch may call") {
  if (!HasLapack()) return;
  for (const double p : {0.0, 1.0}) {
    Network net;
    const Value a = Definite(net, DType::kF64);
    const Value condition = net.Input("p", {1});
    net.inputs["p"] = Tensor::Filled(condition.type(), p);
    const Value factor = net.Op("_linalg_potrf", "potrf", {a});
    const Value negative = net.Op("negative", "negative", {a});
    net.Output(net.Op("_choose", "y", {condition, factor, negative},
                      {{"num_args", "3"}}));
    CheckCompiled(net, 1e-11);
    CheckOnDevice(net);
  }
}

TEST_CASE("an object for C does not import functions") {
  Network net;
  net.Output(net.Op("_linalg_potrf", "potrf", {Definite(net, DType::kF32)}));
  const Target target = *ResolveTarget("x86-64-v3");
  auto program = RunPipeline(net.Copy(), {&target}, {});
  REQUIRE(program.ok());
  const auto object = GenerateStandalone({&*program, 1}, target, {});
  REQUIRE(!object.ok());
  CHECK(object.errors()[0].message.find("calls potrf") != std::string::npos);
}

}  // namespace
}  // namespace mxc
