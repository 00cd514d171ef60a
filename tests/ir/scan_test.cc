// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/ir/gradient_run.h"

namespace mxc {
namespace {

// A turn yields h ← x · h + w, and puts out h · w beside.
std::vector<AttrText> Recurrence(bool reversed) {
  return {{"num_args", "3"},
          {"turns", "3"},
          {"reversed", reversed ? "True" : "False"},
          {"slices", "1"},
          {"carried", "1"},
          {"stacks", "1"},
          {"body", R"(graph @turn {
  %0 "arg0" = input f64[2]
  %1 "arg1" = input f64[2]
  %2 "arg2" = input f64[2]
  %3 "scaled" = elemwise_mul(%0, %1) : f64[2]
  %4 "next" = elemwise_add(%3, %2) : f64[2]
  %5 "beside" = elemwise_mul(%1, %2) : f64[2]
  return %4 "output0", %5 "output1"
}
)"}};
}

std::vector<double> ScanValues(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.shape().elements(); ++i) {
    values.push_back(tensor.At(i));
  }
  return values;
}

using DoubleList = std::vector<double>;

TEST_CASE("a scan puts out last values, stacks and histories") {
  const std::vector<Tensor> inputs = {Doubles({3, 2}, {2, 0, 3, 1, 4, -1}),
                                      Doubles({2}, {1, 5}),
                                      Doubles({2}, {10, 100})};
  const auto forward = EvaluateOp("_scan", Recurrence(false), inputs);
  REQUIRE(forward.size() == 3);
  CHECK(ScanValues(forward[0]) == DoubleList{194, -100});
  CHECK(ScanValues(forward[1]) == DoubleList{10, 500, 120, 10000, 460, 20000});
  CHECK(ScanValues(forward[2]) ==
        DoubleList{1, 5, 12, 100, 46, 200, 194, -100});
  const auto back = EvaluateOp("_scan", Recurrence(true), inputs);
  CHECK(ScanValues(back[0]) == DoubleList{114, 100});
  CHECK(ScanValues(back[1]) == DoubleList{520, 19500, 140, 9500, 10, 500});
  CHECK(ScanValues(back[2]) == DoubleList{114, 100, 52, 195, 14, 95, 1, 5});
}

// Each of its outputs has a gradient there.
TEST_CASE("the gradient of a scan is that of its turns in a row") {
  const std::vector<Tensor> inputs = {SomeDoubles({3, 2}, 1),
                                      SomeDoubles({2}, 2), SomeDoubles({2}, 3)};
  CheckGradient("_scan", Recurrence(false), inputs);
  CheckGradient("_scan", Recurrence(true), inputs);
}

// Of 3 slices the turns of as many as are below the limit: h ← x · h, and h²
// beside.
std::vector<AttrText> Ending(const std::string& limit, bool reversed = false) {
  return {{"num_args", "4"},
          {"turns", "3"},
          {"slices", "1"},
          {"carried", "3"},
          {"stacks", "1"},
          {"reversed", reversed ? "True" : "False"},
          {"conditional", "True"},
          {"body", R"(graph @turn {
  %0 "arg0" = input f64[2]
  %1 "arg1" = input f32[1]
  %2 "arg2" = input i64[1]
  %3 "arg3" = input f64[2]
  %4 "turns" = _plus_scalar(%2) {scalar = "1"} : i64[1]
  %5 "below" = _lesser_scalar(%4) {scalar = ")" +
                       limit + R"("} : i64[1]
  %6 "more" = Cast(%5) {dtype = "float32"} : f32[1]
  %7 "next" = elemwise_mul(%0, %3) : f64[2]
  %8 "beside" = square(%3) : f64[2]
  return %6 "output0", %4 "output1", %7 "output2", %8 "output3"
}
)"}};
}

TEST_CASE("a scan ends when its condition is 0") {
  const Tensor x = Doubles({3, 2}, {2, 3, 4, 5, 6, 7});
  const Tensor none = Tensor::Filled({DType::kI64, Shape{1}}, 0);
  const auto outputs = [&](float first, bool reversed) {
    return EvaluateOp("_scan", Ending("2", reversed),
                      {x, Floats({1}, {first}), none, Doubles({2}, {1, 10})});
  };
  const auto two = outputs(1, false);
  CHECK(two[1].At(0) == 2);
  CHECK(ScanValues(two[2]) == DoubleList{8, 150});
  CHECK(ScanValues(two[3]) == DoubleList{1, 100, 4, 900, 0, 0});
  const auto back = outputs(1, true);
  CHECK(ScanValues(back[2]) == DoubleList{24, 350});
  CHECK(ScanValues(back[3]) == DoubleList{0, 0, 36, 4900, 1, 100});
  const auto zero = outputs(0, false);
  CHECK(zero[1].At(0) == 0);
  CHECK(ScanValues(zero[2]) == DoubleList{1, 10});
  CHECK(ScanValues(zero[3]) == DoubleList(6, 0));
}

TEST_CASE("the gradient of a scan that ends early is that of its turns") {
  for (const char* limit : {"1", "2", "9"}) {
    CheckGradient(
        "_scan", Ending(limit),
        {SomeDoubles({3, 2}, 1), Floats({1}, {1}),
         Tensor::Filled({DType::kI64, Shape{1}}, 0), SomeDoubles({2}, 2)});
  }
}

TEST_CASE("a scan whose graph does not fit its inputs is refused") {
  std::vector<AttrText> attrs = Recurrence(false);
  const auto refused = [&](const std::string& name, const std::string& text) {
    std::vector<AttrText> other = attrs;
    for (auto& [key, value] : other) {
      if (key == name) value = text;
    }
    return Refuses("C1", "_scan", other, {{3, 2}, {2}, {2}});
  };
  CHECK(!refused("turns", "3"));
  CHECK(refused("stacks", "2"));
  CHECK(refused("carried", "3"));
  CHECK(refused("body", "graph"));
  CHECK(Refuses("C3", "_scan",
                {{"conditional", "True"},
                 {"turns", "3"},
                 {"carried", "1"},
                 {"body", "graph"}},
                {{2}}));
}

}  // namespace
}  // namespace mxc
