// SPDX-License-Identifier: Apache-2.0
// Sums that f32 would round on the way, compiled: as exact as MXNet's, which
// compensates them.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/cases/engine.h"
#include "tests/passes/network.h"
#include "tests/support/levels.h"

namespace mxc {
namespace {

// 2^24 and then 260 ones, in each of `columns` columns.
Tensor Columns(int64_t columns) {
  std::vector<float> values;
  for (int64_t i = 0; i < 261 * columns; ++i) {
    values.push_back(i < columns ? 0x1p24f : 1);
  }
  return Tensor::FromFloats({261, columns}, values);
}

// A large number and then ones.
Tensor Integers(DType dtype, int64_t large, int64_t count) {
  std::byte* bytes = nullptr;
  Tensor tensor = Tensor::Allocate({dtype, {count}}, &bytes);
  for (int64_t i = 0; i < count; ++i) {
    StoreElement(bytes + i * SizeOf(dtype), dtype, i == 0 ? large : 1);
  }
  return tensor;
}

// Output 0 by compiled code for each target that can run here.
std::vector<Tensor> OnEachTarget(const Network& net) {
  std::vector<Tensor> found;
  for (const Target& target : test::RunnableTargets()) {
    EngineOptions options;
    options.engine = "compiled";
    options.target = target.name;
    const auto actual = RunGraph(net.Copy(), net.inputs, options);
    REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
    found.push_back((*actual)[0]);
  }
  return found;
}

struct Summed {
  const char *op, *name, *value;  // an attribute, or none
  double factor;
};

TEST_CASE("ones that are added to a large number count") {
  for (const Summed& sum :
       {Summed{"sum", "axis", "0", 1}, Summed{"nansum", "axis", "0", 1},
        Summed{"norm", "ord", "1", 1}, Summed{"mean", "axis", "0", 261}}) {
    for (const int64_t columns : {int64_t{1}, int64_t{19}}) {
      Network net("sums");
      std::vector<AttrText> attrs = {{sum.name, sum.value}};
      if (sum.op == std::string("norm")) attrs.emplace_back("axis", "0");
      const Value x = net.Input("x", {261, columns});
      net.inputs["x"] = Columns(columns);
      net.Output(net.Op(sum.op, "sum", {x}, attrs));
      const float expected =
          static_cast<float>(0x1p24 + 260) / static_cast<float>(sum.factor);
      for (const Tensor& actual : OnEachTarget(net)) {
        for (int64_t i = 0; i < columns; ++i) {
          CHECK(actual.At(i) == expected);
        }
      }
    }
  }
}

TEST_CASE("sums of integers have all digits, where floats would round") {
  for (const auto& [dtype, large] :
       {std::pair{DType::kI32, (int64_t{1} << 24) + 1},
        std::pair{DType::kI64, (int64_t{1} << 53) + 1}}) {
    Network net("sums");
    const Value x = net.Input("x", {38}, dtype);
    net.inputs["x"] = Integers(dtype, large, 38);
    net.Output(net.Op("sum", "sum", {x}, {{"axis", "0"}}));
    for (const Tensor& actual : OnEachTarget(net)) {
      CHECK(actual.ExactAt(0) == static_cast<Element>(large + 37));
    }
  }
}

}  // namespace
}  // namespace mxc
