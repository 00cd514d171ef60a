// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/space.h"

#include <doctest/doctest.h>

#include <string>

namespace mxc::tune {
namespace {

constexpr double kLast = 0x1.fffffffffffffp-1;

Dimension Parsed(const std::string& text) {
  auto dimension = ParseDimension(text);
  REQUIRE_MESSAGE(dimension.ok(), dimension.status().message());
  return *dimension;
}

std::string SpaceRefusal(const std::vector<std::string>& texts) {
  const auto space = ParseSpace(texts);
  return space.ok() ? "" : space.status().message();
}

TEST_CASE("space: positions become values") {
  const Dimension log = Parsed("lr=log(1e-4,1)");
  CHECK(log.At(0) == "0.0001");
  CHECK(log.At(0.5) == "0.01");
  CHECK(log.At(0.75) == "0.1");
  const Dimension uniform = Parsed("momentum = uniform(0.5, 0.9)");
  CHECK(uniform.name == "momentum");
  CHECK(uniform.At(0.25) == "0.6");
  const Dimension whole = Parsed("batch-size=int(2,5)");
  CHECK(whole.At(0) == "2");
  CHECK(whole.At(0.25) == "3");
  CHECK(whole.At(kLast) == "5");
  const Dimension choice =
      Parsed("init=choice(xavier,msra,normal:sigma=(1,2))");
  CHECK(choice.At(0) == "xavier");
  CHECK(choice.At(0.5) == "msra");
  CHECK(choice.At(kLast) == "normal:sigma=(1,2)");
}

TEST_CASE("space: a dimension's text says the same again") {
  for (const std::string text : {"lr=log(0.0001,1)", "x=uniform(-1,2.5)",
                                 "n=int(-3,4)", "o=choice(sgd,adam)"}) {
    CHECK(Parsed(text).ToString() == text);
    CHECK(Parsed(Parsed(text).ToString()).ToString() == text);
  }
}

TEST_CASE("space: what is no space is refused in one sentence") {
  CHECK(SpaceRefusal({"lr"}).find("expected NAME=log(LOW,HIGH)") !=
        std::string::npos);
  CHECK(SpaceRefusal({"lr=normal(0,1)"}).find("'normal' is unknown") !=
        std::string::npos);
  CHECK(SpaceRefusal({"lr=log(0,1)"}) ==
        "search 'lr=log(0,1)': the numbers of log must be above 0");
  CHECK(SpaceRefusal({"lr=uniform(1,1)"}) ==
        "search 'lr=uniform(1,1)': the first number must be below the second "
        "one");
  CHECK(SpaceRefusal({"n=int(1.5,2)"}) ==
        "search 'n=int(1.5,2)': the numbers of int must be whole");
  CHECK(SpaceRefusal({"n=uniform(nan,2)"}) ==
        "search 'n=uniform(nan,2)': expected two numbers in the parentheses");
  CHECK(SpaceRefusal({"n=choice(a,,b)"}) ==
        "search 'n=choice(a,,b)': a value of choice is empty");
  CHECK(SpaceRefusal({"n=choice(a,a)"}) ==
        "search 'n=choice(a,a)': 'a' is there twice");
  CHECK(SpaceRefusal({"lr=log(1,2)", "lr=log(1,3)"}) ==
        "search 'lr=log(1,3)': 'lr' is searched twice");
  CHECK(SpaceRefusal({"=log(1,2)", "x=("}).find("; ") != std::string::npos);
}

}  // namespace
}  // namespace mxc::tune
