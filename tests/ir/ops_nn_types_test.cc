// SPDX-License-Identifier: Apache-2.0
// What the nn operators infer, forwards and backwards.
#include <doctest/doctest.h>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

const Shape kUnknown;

TEST_CASE("a convolution gives its parameters their shapes") {
  const OpRun run = InferOp("Convolution",
                            {{"kernel", "(3, 3)"},
                             {"num_filter", "8"},
                             {"num_group", "2"},
                             {"stride", "(2, 2)"},
                             {"pad", "(1, 1)"}},
                            {{1, 4, 9, 8}, kUnknown, kUnknown});
  CHECK(run.In(1) == "(8, 2, 3, 3)");
  CHECK(run.In(2) == "(8)");
  CHECK(run.Out() == "(1, 8, 5, 4)");
}

TEST_CASE("channels may come last") {
  const OpRun run = InferOp("Convolution",
                            {{"kernel", "(3, 3)"},
                             {"num_filter", "8"},
                             {"layout", "NHWC"},
                             {"no_bias", "True"}},
                            {{1, 9, 8, 4}, kUnknown});
  CHECK(run.In(1) == "(8, 3, 3, 4)");
  CHECK(run.Out() == "(1, 7, 6, 8)");
}

TEST_CASE("one, two and three dimensions") {
  const auto out = [](const char* kernel, Shape data) {
    return InferOp("Convolution",
                   {{"kernel", kernel}, {"num_filter", "2"}, {"no_bias", "1"}},
                   {std::move(data), kUnknown})
        .Out();
  };
  CHECK(out("(3,)", {1, 4, 9}) == "(1, 2, 7)");
  CHECK(out("3", {1, 4, 9}) == "(1, 2, 7)");
  CHECK(out("(1, 3, 3)", {1, 4, 9, 8, 7}) == "(1, 2, 9, 6, 5)");
}

TEST_CASE("FullyConnected flattens, or takes the last axis") {
  const OpRun flat = InferOp("FullyConnected", {{"num_hidden", "5"}},
                             {{2, 3, 4}, kUnknown, kUnknown});
  CHECK(flat.In(1) == "(5, 12)");
  CHECK(flat.Out() == "(2, 5)");
  const OpRun rows =
      InferOp("FullyConnected", {{"num_hidden", "5"}, {"flatten", "0"}},
              {{2, 3, 4}, kUnknown, kUnknown});
  CHECK(rows.In(1) == "(5, 4)");
  CHECK(rows.Out() == "(2, 3, 5)");
}

TEST_CASE("a bias of the old shape (num_hidden, 1) is taken") {
  CHECK(InferOp("FullyConnected", {{"num_hidden", "5"}},
                {{2, 3}, kUnknown, {5, 1}})
            .error == "");
}

TEST_CASE("pooling rounds down, or up with the full convention") {
  const auto out = [](const char* convention) {
    return InferOp("Pooling",
                   {{"kernel", "(3, 3)"},
                    {"stride", "(2, 2)"},
                    {"pooling_convention", convention}},
                   {{1, 2, 8, 6}})
        .Out();
  };
  CHECK(out("valid") == "(1, 2, 3, 2)");
  CHECK(out("full") == "(1, 2, 4, 3)");
}

TEST_CASE("a deconvolution's size, its adj and its target") {
  const auto out = [](std::vector<AttrText> more) {
    more.insert(
        more.end(),
        {{"kernel", "(4, 4)"}, {"stride", "(2, 2)"}, {"num_filter", "3"}});
    return InferOp("Deconvolution", more, {{1, 2, 5, 5}, kUnknown}).Out();
  };
  CHECK(out({}) == "(1, 3, 12, 12)");
  CHECK(out({{"pad", "(1, 1)"}, {"adj", "(1, 0)"}}) == "(1, 3, 11, 10)");
  CHECK(out({{"target_shape", "(9, 10)"}}) == "(1, 3, 9, 10)");
}

TEST_CASE("labels get the shapes that MXNet gives them") {
  CHECK(InferOp("SoftmaxOutput", {}, {{4, 3}, kUnknown}).In(1) == "(4)");
  CHECK(InferOp("SoftmaxOutput", {{"multi_output", "1"}},
                {{4, 3, 5, 6}, kUnknown})
            .In(1) == "(4, 30)");
  CHECK(InferOp("SoftmaxOutput", {}, {{4, 3}, {4, 3}}).error == "");
  CHECK(InferOp("LinearRegressionOutput", {}, {{4, 1}, kUnknown}).In(1) ==
        "(4)");
  CHECK(InferOp("LinearRegressionOutput", {}, {{4, 2}, kUnknown}).In(1) ==
        "(4, 2)");
  CHECK(InferOp("SVMOutput", {}, {{4, 2}, kUnknown}).In(1) == "(4)");
}

TEST_CASE("normalisations give their parameters their shapes") {
  const OpRun batch =
      InferOp("BatchNorm", {{"axis", "-1"}},
              {{2, 3, 5}, kUnknown, kUnknown, kUnknown, kUnknown});
  CHECK(batch.In(4) == "(5)");
  CHECK(batch.Out(2) == "(5)");
  CHECK(InferOp("LayerNorm", {{"axis", "1"}}, {{2, 3, 5}, kUnknown, kUnknown})
            .Out(1) == "(2, 1, 5)");
  CHECK(InferOp("cache", {{"axis", "1"}, {"bound", "9"}}, {{2, 3, 5}}).Out(0) ==
        "(2, 3, 5)");
  const auto rows = InferOp("_cache_rows", {{"bound", "9"}, {"streams", "4"}},
                            {{2, 3, 5}, kUnknown, kUnknown});
  CHECK(rows.Out(0) == "(2, 9, 5)");
  CHECK(rows.In(1) == "(2)");
  CHECK(rows.In(2) == "(2)");
  CHECK(InferOp("positions", {}, {{2, 3, 5}}).Out(0) == "(1, 3)");
  CHECK(InferOp("GroupNorm", {{"num_groups", "2"}},
                {{2, 4, 5}, kUnknown, kUnknown})
            .In(1) == "(2)");
  CHECK(InferOp("L2Normalization", {{"mode", "channel"}}, {{2, 4, 5}}).Out(1) ==
        "(2, 5)");
}

TEST_CASE("types that are unknown follow from the output") {
  const OpRun run = InferOp("Activation", {{"act_type", "relu"}}, {{3, 4}});
  CHECK(run.outputs[0].dtype == DType::kF32);
  CHECK(run.Out() == "(3, 4)");
}

TEST_CASE("anchors count sizes and ratios once each") {
  CHECK(InferOp("_contrib_MultiBoxPrior",
                {{"sizes", "(0.5, 0.3)"}, {"ratios", "(1, 2, 0.5)"}},
                {{1, 8, 3, 5}})
            .Out() == "(1, 60, 4)");
}

TEST_CASE("integers are refused where formulas need fractions") {
  const auto error = [](const char* op, std::vector<AttrText> attrs,
                        std::vector<Shape> shapes) {
    std::vector<TensorType> types;
    for (const Shape& shape : shapes) types.push_back({DType::kI32, shape});
    return BuildOneNode(op, attrs, types, /*training=*/false).error;
  };
  const auto refuses = [](const std::string& text) {
    return text.find("input 0 has type i32, expected a type of floats") !=
           std::string::npos;
  };
  CHECK(refuses(error("BatchNorm", {}, {{2, 3, 4, 4}, {3}, {3}, {3}, {3}})));
  CHECK(refuses(error("UpSampling",
                      {{"scale", "2"},
                       {"sample_type", "bilinear"},
                       {"num_args", "2"},
                       {"num_filter", "3"}},
                      {{1, 3, 4, 4}, {3, 1, 4, 4}})));
  CHECK(refuses(error(
      "GridGenerator",
      {{"transform_type", "affine"}, {"target_shape", "(4, 4)"}}, {{1, 6}})));
  CHECK(refuses(error(
      "RNN", {{"mode", "rnn_tanh"}, {"state_size", "2"}, {"num_layers", "1"}},
      {{3, 1, 2}, {12}, {1, 1, 2}})));
  CHECK(error("broadcast_add", {}, {{2, 3}, {2, 1}}).empty());
}

}  // namespace
}  // namespace mxc
