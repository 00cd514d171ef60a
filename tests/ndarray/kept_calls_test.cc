// SPDX-License-Identifier: Apache-2.0
// What operators make for operands of ever new shapes stays bounded, and what is
// used stays.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ndarray/operator_call.h"
#include "tests/ndarray/saved_artifact.h"
#include "tests/support/sanitizers.h"

namespace mxc::test {
namespace {

using runtime::ArrayType;
using runtime::CallableOperator;
using runtime::CompiledCallPtr;
using runtime::CompiledOperator;
using runtime::GradientSource;
using runtime::RecordedForm;
using runtime::SharedTeam;
using runtime::StatusOr;

constexpr size_t kMost = 100;

std::vector<char> SmallArtifact() {
  CompileRequest request;
  request.network.init = "xavier";
  request.batches = {1};
  const runtime::NamelessFile file = SavedArtifact(
      request, R"({"mxc": 1, "inputs": {"data": ["N", 5]}, "nodes": [
        {"op": "FullyConnected", "name": "fc", "num_hidden": 3}]})");
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Makes a copy of one program, whatever it is asked for.
class Copies final : public runtime::OperatorCompiler {
 public:
  StatusOr<CompiledOperator> Compile(std::span<const ArrayType>, bool,
                                     const GradientSource*) const override {
    auto model = runtime::Model::OpenMemory(std::as_bytes(std::span(artifact_)),
                                            "copy", {});
    if (!model.ok()) return model.status();
    made_.push_back(*model);
    return CompiledOperator{std::move(*model), 1, {}, 0};
  }
  StatusOr<RecordedForm> Record(std::span<const ArrayType>,
                                bool) const override {
    return RecordedForm{};
  }

  size_t alive() const {
    return static_cast<size_t>(std::ranges::count_if(
        made_, [](const auto& model) { return !model.expired(); }));
  }

 private:
  const std::vector<char> artifact_ = SmallArtifact();
  mutable std::vector<std::weak_ptr<const runtime::Model>> made_;
};

runtime::NDArray ArrayOf(const std::vector<int64_t>& dims) {
  const auto type = ArrayType::Of(MXC_F32, dims);
  REQUIRE(type.ok());
  auto made = runtime::NDArray::Make(*type);
  REQUIRE(made.ok());
  return *made;
}

// Operators that share a bound.
struct Operators {
  explicit Operators(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      auto compiler = std::make_unique<Copies>();
      compilers.push_back(compiler.get());
      all.push_back(
          std::make_unique<CallableOperator>("copy", std::move(compiler)));
    }
  }

  CompiledCallPtr For(size_t op, const runtime::NDArray& array) {
    const runtime::NDArray* const ref = &array;
    const auto call = all[op]->For({&ref, 1}, false, team);
    REQUIRE(call.ok());
    return *call;
  }
  size_t alive() const {
    size_t sum = 0;
    for (const Copies* one : compilers) sum += one->alive();
    return sum;
  }

  SharedTeam team{kMost};
  std::vector<const Copies*> compilers;
  std::vector<std::unique_ptr<CallableOperator>> all;
};

// Of the program itself, whatever it was asked for.
void RunOnce(const CompiledCallPtr& call) {
  const runtime::NDArray input = ArrayOf({1, 5}), output = ArrayOf({1, 3});
  const runtime::NDArray *const from = &input, *const to = &output;
  CHECK(call->Run({&from, 1}, {&to, 1}, 0, 0).ok());
}

uint64_t ResidentBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("thousands of shapes keep the memory of the last hundred") {
  Operators operators(3);
  constexpr int64_t kShapes = 3000;
  [[maybe_unused]] uint64_t before = 0;
  for (int64_t n = 1; n <= kShapes; ++n) {
    RunOnce(operators.For(static_cast<size_t>(n % 3), ArrayOf({n, 2})));
    if (n == 2 * static_cast<int64_t>(kMost)) before = ResidentBytes();
    if (n % 500 == 0) CHECK(operators.alive() <= kMost);
  }
  CHECK(operators.alive() == kMost);
#if !defined(MXC_THREAD_SANITIZER) && !defined(MXC_ADDRESS_SANITIZER)
  // All 3,000 would have some forty kilobytes each.
  CHECK(ResidentBytes() < before + (uint64_t{16} << 20));
#endif
}

TEST_CASE("what is used again and again is not made again") {
  Operators operators(2);
  const runtime::NDArray often = ArrayOf({7});
  const uint64_t number = operators.For(0, often)->number();
  for (int64_t n = 1; n <= 1000; ++n) {
    RunOnce(operators.For(static_cast<size_t>(n % 2), ArrayOf({n, 3})));
    REQUIRE(operators.For(0, often)->number() == number);
  }
  CHECK(operators.alive() <= kMost);
  // It is, once it was not used for as long as others are kept.
  for (int64_t n = 1; n <= 200; ++n) operators.For(1, ArrayOf({n, 4}));
  CHECK(operators.For(0, often)->number() != number);
}

TEST_CASE("what somebody is about to run outlives its being forgotten") {
  Operators operators(1);
  const CompiledCallPtr held = operators.For(0, ArrayOf({1, 1, 1}));
  for (int64_t n = 1; n <= 500; ++n) operators.For(0, ArrayOf({n, 5}));
  CHECK(operators.alive() == kMost + 1);
  RunOnce(held);
}

}  // namespace mxc::test
