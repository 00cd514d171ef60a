// SPDX-License-Identifier: Apache-2.0
// Sorting, compiled: the standard library's order, for any number of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/cases/engine.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

// The first k places of each row in stable order, the greatest first.
std::vector<int> GreatestFirst(const Tensor& x, int64_t k) {
  const int64_t rows = x.shape()[0], n = x.shape()[1];
  std::vector<int> order;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<int> places(static_cast<size_t>(n));
    std::iota(places.begin(), places.end(), 0);
    std::ranges::stable_sort(places, [&](int i, int j) {
      return x.At(row * n + i) > x.At(row * n + j);
    });
    order.insert(order.end(), places.begin(), places.begin() + k);
  }
  return order;
}

void CheckTopk(DType dtype, Shape shape, int64_t k, int threads) {
  Network net("sorting");
  const Value x = net.Input("x", shape, dtype);
  std::byte* bytes = nullptr;
  net.inputs["x"] = Tensor::Allocate({dtype, shape}, &bytes);
  for (int64_t i = 0; i < shape.elements(); ++i) {
    const int64_t mixed = (i + 1) * 2654435761 % 1000003;
    const int64_t range = dtype == DType::kI8 ? 200 : 5000;
    StoreElement(bytes + i * SizeOf(dtype), dtype,
                 static_cast<double>(mixed % range - range / 2) / 2);
  }
  net.Output(net.Op("topk", "topk", {x},
                    {{"k", std::to_string(k)}, {"dtype", "int32"}}));
  EngineOptions options;
  options.engine = "compiled";
  options.target = "native";
  options.threads = threads;
  const auto actual = RunGraph(net.Copy(), net.inputs, options);
  REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
  const std::vector<int> expected = GreatestFirst(net.inputs["x"], k);
  int wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    wrong += (*actual)[0].At(static_cast<int64_t>(i)) != expected[i];
  }
  INFO(ShortName(dtype), " ", ToString(shape), " k ", k, " threads ", threads);
  CHECK(wrong == 0);
}

TEST_CASE("compiled topk gives the standard library's order") {
  CheckTopk(DType::kF32, {1, 30000}, 30000, 1);  // digits of 11 bits
  CheckTopk(DType::kF32, {40, 500}, 500, 3);     // of 8 bits
  CheckTopk(DType::kF32, {40, 500}, 7, 3);       // the best are kept
  CheckTopk(DType::kF32, {300, 20}, 20, 2);      // ranks
  CheckTopk(DType::kF64, {2, 700}, 100, 1);
  CheckTopk(DType::kF16, {2, 700}, 100, 1);
  CheckTopk(DType::kI8, {2, 700}, 100, 1);
  CheckTopk(DType::kI64, {2, 700}, 100, 1);
}

}  // namespace
}  // namespace mxc
