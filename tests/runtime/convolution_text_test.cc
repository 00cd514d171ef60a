// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "runtime/abi/convolution.h"

namespace mxc {
namespace {

// 3x3 with stride 2 on 2 images of 4 channels, 7x9, to 6 channels, 4x5.
Convolution Example() {
  Convolution c;
  c.images = 2, c.in = 4, c.out = 6;
  c.along[0] = {7, 3, 4, 2, 1, 1, 1};
  c.along[1] = {9, 3, 5, 2, 1, 1, 1};
  c.x = {0, 4 * 63, 63, {9, 1, 0}};
  c.w = {0, 36, 9, {3, 1, 0}};
  c.y = {0, 6 * 20, 20, {5, 1, 0}};
  c.preferred = 1;
  return c;
}

}  // namespace

TEST_CASE("the text of a convolution is read as it was written") {
  const std::string text = TextOf(Example());
  CHECK(text.starts_with("convolution 0 2 1 2 4 6 0 252 63 9 1 0 "));
  const auto read = ReadConvolution(text);
  REQUIRE(read.has_value());
  CHECK(TextOf(*read) == text);
  // Dense tensors end where their elements do.
  CHECK(ElementsOf(*read, read->x) == 2 * 4 * 63);
  CHECK(ElementsOf(*read, read->w) == 6 * 4 * 9);
  CHECK(ElementsOf(*read, read->y) == 2 * 6 * 20);
}

TEST_CASE("texts that are no convolution are refused") {
  const std::string text = TextOf(Example());
  for (const std::string& other :
       {std::string(), text.substr(1), text + " 0", text + "x",
        text.substr(0, text.rfind(' ')), "product" + text.substr(11)}) {
    CAPTURE(other);
    CHECK(!ReadConvolution(other));
  }
  const auto refuses = [](auto change) {
    Convolution c = Example();
    change(c);
    return !ReadConvolution(TextOf(c));
  };
  CHECK(refuses([](Convolution& c) { c.kind = 3; }));
  CHECK(refuses([](Convolution& c) { c.axes = 1; }));
  CHECK(refuses([](Convolution& c) { c.axes = 4; }));
  CHECK(refuses([](Convolution& c) { c.groups = 0; }));
  CHECK(refuses([](Convolution& c) { c.groups = 4; }));  // of 6 channels
  CHECK(refuses([](Convolution& c) { c.images = 0; }));
  CHECK(refuses([](Convolution& c) { c.along[1].y = 0; }));
  CHECK(refuses([](Convolution& c) { c.along[0].before = -1; }));
  CHECK(refuses([](Convolution& c) { c.x.outer = int64_t{1} << 31; }));
  CHECK(refuses([](Convolution& c) { c.kind = 1, c.bias = 2; }));
  CHECK(refuses([](Convolution& c) { c.preferred = 2; }));
}

TEST_CASE("where a tensor ends is counted without overflow") {
  Convolution c = Example();
  const int64_t most = kMostOfConvolution;
  c.axes = 3;
  c.images = c.in = c.out = most;
  for (auto& axis : c.along) axis = {most, most, most, 1, 1, 0, 0};
  c.x = {0, most, most, {most, most, most}};
  REQUIRE(ReadConvolution(TextOf(c)).has_value());
  CHECK(ElementsOf(c, c.x) > uint64_t{1} << 61);
}

}  // namespace mxc
