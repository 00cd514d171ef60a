// SPDX-License-Identifier: Apache-2.0
// The gradients of a convolution: a convolution is linear in its data and in
// its weight, so its gradients are the two transposed maps,
//   ⟨conv(x, w), y⟩ = ⟨x, backward_data(y, w)⟩ = ⟨w, backward_weight(x, y)⟩.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using Random = std::mt19937;

int64_t PickBetween(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

Tensor RandomTensor(const Shape& shape, Random& random) {
  std::vector<float> values(shape.elements());
  for (float& value : values) {
    value = static_cast<float>(PickBetween(random, -8, 8)) / 4;
  }
  return Floats(shape, values);
}

double InnerProduct(const Tensor& a, const Tensor& b) {
  double sum = 0;
  REQUIRE(a.shape() == b.shape());
  for (int64_t i = 0; i < a.shape().elements(); ++i) sum += a.At(i) * b.At(i);
  return sum;
}

struct Case {
  std::vector<AttrText> attrs;  // of the geometry
  Extents extent;
  Shape data, weight;
};

Case RandomCase(Random& random) {
  const int64_t rank = PickBetween(random, 1, 3),
                groups = PickBetween(random, 1, 3);
  const int64_t in = groups * PickBetween(random, 1, 2),
                per_group = in / groups;
  const int64_t out = groups * PickBetween(random, 1, 3);
  const bool last = rank > 1 && PickBetween(random, 0, 3) == 0;
  Extents kernel, stride, dilate, pad, extent;
  for (int64_t d = 0; d < rank; ++d) {
    kernel.push_back(PickBetween(random, 1, 3));
    stride.push_back(PickBetween(random, 1, 3));
    dilate.push_back(PickBetween(random, 1, 3));
    pad.push_back(PickBetween(random, 0, 2));
    extent.push_back(dilate[d] * (kernel[d] - 1) + 1 +
                     PickBetween(random, 0, 4));
  }
  const auto shape = [&](int64_t first, int64_t channels, const Extents& rest) {
    Extents dims = rest;
    dims.insert(last ? dims.end() : dims.begin(), channels);
    dims.insert(dims.begin(), first);
    return Shape(dims);
  };
  return {{{"kernel", ToString(kernel)},
           {"stride", ToString(stride)},
           {"dilate", ToString(dilate)},
           {"pad", ToString(pad)},
           {"num_filter", std::to_string(out)},
           {"num_group", std::to_string(groups)},
           {"layout", !last       ? "None"
                      : rank == 2 ? "NHWC"
                                  : "NDHWC"}},
          extent,
          shape(PickBetween(random, 1, 3), in, extent),
          shape(out, per_group, kernel)};
}

TEST_CASE("a convolution's gradients are its transposes") {
  for (unsigned seed = 0; seed < 120; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Case c = RandomCase(random);
    const Tensor x = RandomTensor(c.data, random),
                 w = RandomTensor(c.weight, random);
    auto forward = c.attrs;
    forward.push_back({"no_bias", "1"});
    const Tensor z = EvaluateUndivided("Convolution", forward, {x, w})[0];
    const Tensor y = RandomTensor(z.shape(), random);
    const double expected = InnerProduct(z, y);

    auto to_data = c.attrs;
    to_data.push_back({"extent", ToString(c.extent)});
    const char* kData = "_convolution_backward_data";
    const char* kWeight = "_convolution_backward_weight";
    CHECK(InnerProduct(x, EvaluateUndivided(kData, to_data, {y, w})[0]) ==
          doctest::Approx(expected));
    CHECK(InnerProduct(x, EvaluateContraction(kData, to_data, {y, w})) ==
          doctest::Approx(expected));
    CHECK(InnerProduct(w, EvaluateUndivided(kWeight, c.attrs, {x, y})[0]) ==
          doctest::Approx(expected));
    CHECK(InnerProduct(w, EvaluateContraction(kWeight, c.attrs, {x, y})) ==
          doctest::Approx(expected));
  }
}

}  // namespace
}  // namespace mxc
