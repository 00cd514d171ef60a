// SPDX-License-Identifier: Apache-2.0
// What detectors consist of: values that MXNet 1.9.1 computed.
#include <doctest/doctest.h>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;

void CheckNear(const Tensor& tensor, const List& expected) {
  REQUIRE(tensor.shape().elements() == static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(tensor.At(static_cast<int64_t>(i)) ==
          doctest::Approx(expected[i]).epsilon(1e-5));
  }
}

const Tensor kAnchors =
    Floats({1, 4, 4}, {.1f, .1f, .5f, .5f, .1f, .1f, .5f, .45f,  //
                       .4f, .4f, .8f, .9f, .6f, .6f, .9f, .9f});

std::vector<Tensor> Detect(const std::vector<AttrText>& attrs) {
  const Tensor scores = Floats(
      {1, 3, 4}, {.1f, .2f, .1f, .8f, .7f, .6f, .2f, .1f, .2f, .2f, .7f, .1f});
  std::vector<float> moves(16);
  moves[8] = 1, moves[10] = .5f;
  return EvaluateOp("_contrib_MultiBoxDetection", attrs,
                    {scores, Floats({1, 16}, moves), kAnchors});
}

const List kFirst = {.7, .1, .1, .5, .5}, kSecond = {.6, .1, .1, .5, .45},
           kMoved = {.7, .418966, .4, .861034, .9},
           kLast = {.1, .6, .6, .9, .9};

List Rows(const std::vector<std::pair<double, List>>& rows) {
  List all;
  for (const auto& [klass, numbers] : rows) {
    all.push_back(klass);
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return all;
}

TEST_CASE("detected boxes stand by score, those that overlap without class") {
  CheckNear(Detect({})[0],
            Rows({{0, kFirst}, {1, kMoved}, {-1, kSecond}, {0, kLast}}));
  CheckNear(Detect({{"force_suppress", "1"}, {"nms_threshold", "0.01"}})[0],
            Rows({{0, kFirst}, {-1, kMoved}, {-1, kSecond}, {0, kLast}}));
  CheckNear(Detect({{"nms_topk", "1"}})[0],
            Rows({{0, kFirst}, {-1, kSecond}, {-1, kMoved}, {-1, kLast}}));
  const List none(5, -1);
  CheckNear(Detect({{"nms_threshold", "-1"}, {"threshold", "0.15"}})[0],
            Rows({{0, kFirst}, {0, kSecond}, {1, kMoved}, {-1, none}}));
}

TEST_CASE("anchors are given their objects") {
  const Tensor objects = Floats({1, 3, 5}, {1, .1f, .1f, .5f, .5f, 0, .45f, .4f,
                                            .8f, .85f, -1, -1, -1, -1, -1});
  const Tensor scores = Floats({1, 3, 4}, {1, 2, 3, 1, 0, 0, 0, 0, 1, 1, 0, 2});
  const std::vector<std::vector<AttrText>> settings = {
      {}, {{"negative_mining_ratio", "1"}, {"overlap_threshold", "0.8"}}};
  for (const auto& attrs : settings) {
    const std::vector<Tensor> targets = EvaluateOp(
        "_contrib_MultiBoxTarget", attrs, {kAnchors, objects, scores});
    CheckNear(targets[0], {0, 0, 0, 0, 0, .714286, 0, .667657,  //
                           .625, -.5, -.667657, -.526802, 0, 0, 0, 0});
    CheckNear(targets[1], {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0});
    CheckNear(targets[2], {2, 2, 1, 0});
  }
  CHECK(Evaluate("_contrib_bipartite_matching", {{"threshold", "1e-12"}},
                 {Floats({3, 2}, {.5f, .6f, .1f, .2f, .3f, .4f})}) ==
        List{1, -1, 0});
  CHECK(Evaluate("_contrib_bipartite_matching",
                 {{"threshold", "0.45"}, {"is_ascend", "1"}},
                 {Floats({3, 2}, {.5f, .6f, .1f, .2f, .3f, .4f})}) ==
        List{-1, 0, 1});
}

TEST_CASE("regions are proposed by score") {
  std::vector<float> moves(16);
  moves[8] = .2f;
  const std::vector<Tensor> regions = EvaluateOp(
      "_contrib_Proposal",
      {{"rpn_post_nms_top_n", "3"},
       {"rpn_min_size", "4"},
       {"scales", "(1,)"},
       {"ratios", "(1,)"},
       {"threshold", "0.5"},
       {"output_score", "1"}},
      {Floats({1, 2, 2, 2}, {.9f, .1f, .2f, .8f, .1f, .9f, .8f, .2f}),
       Floats({1, 4, 2, 2}, moves), Floats({1, 3}, {40, 36, 1})});
  CheckNear(regions[0],
            {0, 16, 0, 31, 15, 0, 0, 16, 15, 31, 0, 16, 16, 31, 31});
  CheckNear(regions[1], {.9, .8, .2});
}

TEST_CASE("rotated regions are averaged") {
  std::vector<float> cells(16);
  for (size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<float>(i);
  const Tensor image = Floats({1, 1, 4, 4}, cells);
  CheckNear(EvaluateOp("_contrib_RROIAlign",
                       {{"pooled_size", "(2, 2)"},
                        {"spatial_scale", "1"},
                        {"sampling_ratio", "1"}},
                       {image, Floats({1, 6}, {0, 2, 1.5f, 2, 2, 90})})[0],
            {9.5, 5.5, 10.5, 6.5});
  CheckNear(EvaluateOp("_contrib_RROIAlign",
                       {{"pooled_size", "(1, 2)"}, {"spatial_scale", "1"}},
                       {image, Floats({1, 6}, {0, 2, 1.5f, 2, 2, 30})})[0],
            {8.566987, 7.433013});
}

TEST_CASE("a histogram counts what lies in its bins") {
  const Tensor data = Floats({6}, {0, 1, 2, 2, 3, 4});
  const std::vector<Tensor> even =
      EvaluateOp("_histogram", {{"bin_cnt", "4"}, {"range", "(0, 4)"}}, {data});
  CheckNear(even[0], {1, 1, 2, 2});
  CheckNear(even[1], {0, 1, 2, 3, 4});
  CHECK(Evaluate("_histogram", {},
                 {Floats({7}, {0, 1, 2, 2, 3, 4, -1}),
                  Floats({3}, {0, 2.5f, 3})}) == List{4, 1});
  CHECK(Refuses("C1", "_histogram", {{"bin_cnt", "4"}}, {{6}}));
  CHECK(Refuses("C2", "_histogram", {}, {{6}, {1}}));
}

}  // namespace
}  // namespace mxc
