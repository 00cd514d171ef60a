// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

// Class, score, corners. Row 1 lies over row 0 by 9/11 of their union, row 2
// over row 0 by 1/3, row 3 apart.
Tensor Boxes(float first_class = 0) {
  return Floats({1, 4, 6}, {first_class, .8F, 0,  0, 10, 10,  //
                            1,           .9F, 1,  0, 11, 10,  //
                            0,           .7F, 5,  0, 15, 10,  //
                            0,           .1F, 30, 0, 40, 10});
}

// The classes of the rows that stay, ten times their scores, and -1.
List Kept(const std::vector<AttrText>& attrs, const Tensor& boxes = Boxes()) {
  const Tensor out = EvaluateOp("_contrib_box_nms", attrs, {boxes})[0];
  List scores;
  for (int64_t row = 0; row < boxes.shape()[1]; ++row) {
    scores.push_back(out.At(6 * row + 1));
  }
  return scores;
}

TEST_CASE("box_nms drops what overlaps a box of a higher score") {
  const double a = .8F, b = .9F, c = .7F, d = .1F;
  CHECK(Kept({}) == List{b, c, d, -1});
  CHECK(Kept({{"overlap_thresh", "0.3"}}) == List{b, d, -1, -1});
  CHECK(Kept({{"overlap_thresh", "0.9"}}) == List{b, a, c, d});
  CHECK(Kept({{"id_index", "0"}}) == List{b, a, c, d});
  CHECK(Kept({{"id_index", "0"}, {"force_suppress", "1"}}) ==
        List{b, c, d, -1});
  CHECK(Kept({{"id_index", "0"}, {"background_id", "1"}}) == List{a, c, d, -1});
  CHECK(Kept({{"valid_thresh", "0.75"}}) == List{b, -1, -1, -1});
  CHECK(Kept({{"topk", "2"}}) == List{b, -1, -1, -1});
  CHECK(Kept({{"topk", "3"}}) == List{b, c, -1, -1});
}

TEST_CASE("box_nms drops boxes of class -1 where it reads classes") {
  const Tensor boxes = Boxes(-1);
  const double b = .9F, c = .7F, d = .1F;
  CHECK(Kept({{"id_index", "0"}}, boxes) == List{b, c, d, -1});
  CHECK(Kept({}, boxes) == Kept({}));
}

TEST_CASE("box_nms reads and writes boxes in both formats") {
  const auto row = [](const std::vector<AttrText>& attrs) {
    const Tensor out = EvaluateOp("_contrib_box_nms", attrs, {Boxes()})[0];
    List list;
    for (int64_t k = 2; k < 6; ++k) list.push_back(out.At(k));
    return list;
  };
  CHECK(row({}) == List{1, 0, 11, 10});
  CHECK(row({{"out_format", "center"}}) == List{6, 5, 10, 10});
  CHECK(row({{"in_format", "center"}}) == List{-4.5, -5, 6.5, 5});
}

TEST_CASE("boxes without any area drop nothing") {
  const Tensor boxes =
      Floats({1, 2, 6}, {0, .9F, 1, 1, 1, 1, 0, .8F, 1, 1, 1, 1});
  CHECK(Kept({}, boxes) == List{.9F, .8F});
}

}  // namespace
}  // namespace mxc
