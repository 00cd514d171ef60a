// SPDX-License-Identifier: Apache-2.0
// Every constraint of the nn operators refuses what violates it, under its
// label.
#include <doctest/doctest.h>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

struct Refusal {
  const char* op;
  std::vector<AttrText> attrs;
  std::vector<Shape> shapes;
  const char* label;
  bool training = false;
};

const std::vector<AttrText> kRoi = {{"pooled_size", "(2, 2)"},
                                    {"spatial_scale", "1"}};
const Shape kImage = {2, 3, 8, 8};

std::vector<AttrText> With(std::vector<AttrText> attrs,
                           std::vector<AttrText> more) {
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

std::vector<AttrText> Conv(std::vector<AttrText> more) {
  return With({{"num_filter", "4"}, {"no_bias", "1"}}, std::move(more));
}

std::vector<AttrText> Fold(const char* kernel, const char* count,
                           const char* extent) {
  return {{"kernel", kernel}, {"count", count},   {"extent", extent},
          {"stride", "(1,)"}, {"dilate", "(1,)"}, {"pad", "(0,)"}};
}

std::vector<AttrText> Geometry(std::vector<AttrText> more) {
  return With({{"num_filter", "4"}}, std::move(more));
}

std::vector<AttrText> Regions(std::vector<AttrText> more) {
  return With({{"spatial_scale", "1"},
               {"output_dim", "1"},
               {"group_size", "2"},
               {"pooled_size", "2"}},
              std::move(more));
}

std::vector<AttrText> Lstm(std::vector<AttrText> more) {
  return With({{"state_size", "5"}, {"num_layers", "1"}, {"mode", "lstm"}},
              std::move(more));
}

std::vector<Refusal> Refusals() {
  const Shape any;
  return {
      {"Convolution", Conv({{"kernel", "(3,3,3,3)"}}), {kImage, any}, "C1"},
      {"Convolution", Conv({{"kernel", "(0,3)"}}), {kImage, any}, "C1"},
      {"Convolution",
       Conv({{"kernel", "(3,3)"}, {"stride", "(0,1)"}}),
       {kImage, any},
       "C2"},
      {"Convolution",
       Conv({{"kernel", "(3,3)"}, {"pad", "(1,)"}}),
       {kImage, any},
       "C2"},
      {"Convolution",
       Conv({{"kernel", "(3,3)"}, {"layout", "NCW"}}),
       {kImage, any},
       "C3"},
      {"Convolution", Conv({{"kernel", "(3,)"}}), {kImage, any}, "C3"},
      {"Convolution", Conv({{"kernel", "(11,11)"}}), {kImage, any}, "C4"},
      {"Convolution",
       Conv({{"kernel", "(3,3)"}, {"dilate", "(4,4)"}}),
       {kImage, any},
       "C4"},
      {"Convolution",
       Conv({{"kernel", "(3,3)"}, {"num_group", "2"}}),
       {kImage, any},
       "C5"},
      {"Convolution",
       Conv({{"kernel", "(3,3)"}, {"num_group", "3"}}),
       {kImage, any},
       "C5"},
      {"_convolution_backward_data",
       Geometry({{"kernel", "()"}, {"extent", "()"}}),
       {kImage, any},
       "C1"},
      {"_convolution_backward_data",
       Geometry(
           {{"kernel", "(3,3)"}, {"extent", "(8,8)"}, {"stride", "(0,1)"}}),
       {kImage, any},
       "C2"},
      {"_convolution_backward_data",
       Geometry({{"kernel", "(3,3)"}, {"extent", "(8,8)"}, {"layout", "NCW"}}),
       {kImage, any},
       "C3"},
      {"_convolution_backward_data",
       Geometry({{"kernel", "(3,3)"}, {"extent", "(8,8)"}, {"num_group", "3"}}),
       {kImage, any},
       "C5"},
      {"_convolution_backward_data",
       Geometry({{"kernel", "(3,3)"}, {"extent", "(8,8)"}}),
       {kImage, {4, 3, 3}},
       "C8"},
      {"_convolution_backward_data",
       Geometry({{"kernel", "(3,3)"}, {"extent", "(8,0)"}}),
       {kImage, any},
       "C6"},
      {"_convolution_backward_data",
       Geometry({{"kernel", "(3,3)"}, {"extent", "(8,8)"}}),
       {{2, 4, 8, 8}, {4, 3, 3, 2}},
       "C7"},
      {"_convolution_backward_weight",
       Geometry({{"kernel", "(3,3)"}}),
       {{2, 3, 8, 8}, {3, 4, 6, 6}},
       "C6"},
      {"_convolution_backward_weight",
       Geometry({{"kernel", "(3,3)"}}),
       {{2, 3, 8, 8}, {2, 3, 6, 6}},
       "C7"},
      {"_fold_windows", Fold("()", "(2,)", "(4,)"), {{1, 2, 1, 3, 1}}, "C1"},
      {"_fold_windows", Fold("(3,)", "(2,)", "(0,)"), {{1, 2, 1, 3, 1}}, "C3"},
      {"_fold_windows", Fold("(3,)", "()", "(4,)"), {{1, 2, 1, 3, 1}}, "C3"},
      {"_fold_windows", Fold("(3,)", "(2,)", "(4,)"), {{1, 2, 1, 4, 1}}, "C4"},
      {"Deconvolution", Conv({{"kernel", "()"}}), {kImage, any}, "C1"},
      {"_contrib_box_iou", {}, {{2, 3}, {2, 4}}, "C1"},
      {"_contrib_box_decode", {}, {{2, 3}, any}, "C1"},
      {"_contrib_box_encode",
       {},
       {{2, 3}, any, any, {2, 3, 5}, any, any},
       "C1"},
      {"_contrib_box_nms", {}, {{2, 5}}, "C1"},
      {"_contrib_box_nms", {}, {{int64_t{1} << 31, 6}}, "C2"},
      {"_contrib_MultiBoxDetection", {}, {{2, 5}, any, any}, "C1"},
      {"_contrib_MultiBoxDetection",
       {{"variances", "(1,)"}},
       {{2, 5, 3}, any, any},
       "C2"},
      {"_contrib_DeformablePSROIPooling",
       Regions({{"no_trans", "1"}}),
       {kImage, {4, 4}},
       "C1"},
      {"_contrib_DeformablePSROIPooling",
       Regions({{"no_trans", "1"}}),
       {kImage, {4, 5}},
       "C2"},
      {"_contrib_DeformablePSROIPooling",
       Regions({}),
       {{2, 4, 8, 8}, {4, 5}, {4, 2, 3, 3}},
       "C3"},
      {"RNN", Lstm({}), {kImage, any, any, any}, "C1"},
      {"RNN", Lstm({}), {{3, 2, 4}, any, {2, 2, 5}, any}, "C2"},
      {"RNN", Lstm({}), {{3, 2, 4}, {10}, any, any}, "C3"},
      {"RNN",
       {{"state_size", "5"},
        {"num_layers", "1"},
        {"mode", "gru"},
        {"projection_size", "2"}},
       {{3, 2, 4}, any, any},
       "C4"},
      {"RNN", Lstm({{"lstm_state_clip_min", "1"}}), {{3, 2, 4}}, "C4"},
      {"RNN",
       Lstm({{"lstm_state_clip_min", "1"}, {"lstm_state_clip_max", "0"}}),
       {{3, 2, 4}},
       "C4"},
      {"Deconvolution",
       Conv({{"kernel", "(3,3)"}, {"adj", "(0,0,0)"}}),
       {kImage, any},
       "C2"},
      {"Deconvolution",
       Conv({{"kernel", "(3,3)"}, {"layout", "NHWC"}}),
       {kImage, any},
       "C3"},
      {"Deconvolution",
       Conv({{"kernel", "(3,3)"}, {"adj", "(1,1)"}}),
       {kImage, any},
       "C4"},
      {"Deconvolution",
       Conv({{"kernel", "(3,3)"}, {"num_group", "2"}}),
       {kImage, any},
       "C5"},
      {"Deconvolution",
       Conv({{"kernel", "(3,3)"}, {"target_shape", "(50,50)"}}),
       {kImage, any},
       "C6"},
      {"Deconvolution",
       Conv({{"kernel", "(3,3)"}, {"target_shape", "(8,0)"}}),
       {kImage, any},
       "C6"},
      {"Deconvolution",
       Conv({{"kernel", "(3,3)"}, {"pad", "(9,9)"}}),
       {kImage, any},
       "C7"},
      {"FullyConnected",
       {{"num_hidden", "0"}},
       {kImage, any, any},
       "num_hidden"},
      {"FullyConnected", {{"num_hidden", "4"}}, {{2, 3}, any, {5}}, "C2"},
      {"Pooling", {{"kernel", "(2,2,2,2)"}}, {kImage}, "C1"},
      {"Pooling", {}, {kImage}, "C1"},
      {"Pooling", {{"kernel", "(2,2)"}, {"stride", "(0,1)"}}, {kImage}, "C2"},
      {"Pooling", {{"kernel", "(2,)"}}, {kImage}, "C3"},
      {"Pooling", {{"kernel", "(9,9)"}}, {kImage}, "C4"},
      {"Pooling", {{"kernel", "(2,2)"}, {"pool_type", "lp"}}, {kImage}, "C5"},
      {"Pooling",
       {{"kernel", "(2,2)"}, {"pool_type", "lp"}, {"p_value", "4"}},
       {kImage},
       "C5"},
      {"Pooling",
       {{"kernel", "(2,2)"}, {"pooling_convention", "same"}},
       {kImage},
       "C6"},
      {"Pooling_v1", {{"kernel", "(2,)"}}, {kImage}, "C1"},
      {"Pooling_v1", {{"kernel", "(2,2)"}, {"pad", "(-1,0)"}}, {kImage}, "C2"},
      {"Pooling_v1", {{"kernel", "(2,2)"}}, {{2, 3, 4}}, "C3"},
      {"Pooling_v1", {{"kernel", "(9,9)"}}, {kImage}, "C4"},
      {"_contrib_AdaptiveAvgPooling2D",
       {{"output_size", "(1,2,3)"}},
       {kImage},
       "C1"},
      {"_contrib_AdaptiveAvgPooling2D", {}, {{2, 3, 4}}, "C2"},
      {"SoftmaxOutput", {}, {{4}, any}, "C1"},
      {"SoftmaxOutput", {{"multi_output", "1"}}, {{4}, any}, "C1"},
      {"SoftmaxOutput", {}, {{4, 3}, {5}}, "C2"},
      {"softmax", {{"axis", "4"}}, {kImage}, "C1"},
      {"softmax", {{"use_length", "1"}}, {{2, 3}, {3}}, "C2"},
      {"softmax", {{"temperature", "0"}}, {kImage}, "C3"},
      {"log_softmax", {{"use_length", "1"}}, {{2, 3}, {2}}, "C4"},
      {"SoftmaxActivation", {}, {Extents{}}, "C1"},
      {"SoftmaxActivation", {{"mode", "channel"}}, {{4, 3}}, "C1"},
      {"softmax_cross_entropy", {}, {{4, 3}, {3}}, "C1"},
      {"LinearRegressionOutput", {}, {{4, 3}, {4}}, "C1"},
      {"SVMOutput", {}, {{4, 3}, {3}}, "C1"},
      {"LeakyReLU", {{"act_type", "prelu"}}, {kImage, {2}}, "C1"},
      {"BatchNorm", {{"axis", "4"}}, {kImage, any, any, any, any}, "C1"},
      {"BatchNorm", {}, {kImage, {4}, any, any, any}, "C2"},
      {"InstanceNorm", {}, {{3, 4}, any, any}, "C1"},
      {"InstanceNorm", {}, {kImage, {4}, any}, "C2"},
      {"LayerNorm", {{"axis", "5"}}, {kImage, any, any}, "C1"},
      {"cache", {{"axis", "4"}, {"bound", "9"}}, {kImage}, "C1"},
      {"_cache_rows",
       {{"axis", "4"}, {"bound", "9"}},
       {kImage, any, any},
       "C1"},
      {"_cache_rows",
       {{"bound", "4294967296"}, {"streams", "4294967296"}},
       {kImage, any, any},
       "C2"},
      {"_cache_rows",
       {{"bound", "9"}, {"rows", "7"}},
       {kImage, any, any},
       "C3"},
      {"positions", {}, {{7}}, "C1"},
      {"LayerNorm", {}, {kImage, {3}, any}, "C2"},
      {"GroupNorm", {}, {{2, 3}, any, any}, "C1"},
      {"GroupNorm", {{"num_groups", "2"}}, {kImage, any, any}, "C2"},
      {"GroupNorm", {{"num_groups", "3"}}, {kImage, {2}, any}, "C3"},
      {"L2Normalization", {}, {Extents{}}, "C1"},
      {"L2Normalization", {{"mode", "spatial"}}, {{4, 3}}, "C1"},
      {"LRN", {{"nsize", "4"}}, {kImage}, "C1"},
      {"LRN", {{"nsize", "3"}}, {{2, 3, 4}}, "C2"},
      {"Dropout", {{"axes", "(4,)"}}, {kImage}, "C1"},
      {"CTCLoss", {}, {{4, 3}, {3, 2}}, "C1"},
      {"CTCLoss", {}, {{6, 2, 4}, {3, 2}}, "C1"},
      {"CTCLoss", {}, {{5000, 2, 4}, {2, 2}}, "C2"},
      {"_embedding_gradient", {{"input_dim", "5"}}, {{3, 2}, {3, 1}}, "C1"},
      {"_lstm_cell_gradient",
       {},
       {{2, 3, 4}, any, any, any, any, any, any, any},
       "C1"},
      {"_gru_cell_gradient", {}, {{2, 3, 4}, any, any, any, any, any}, "C1"},
      {"_meaning_gradient",
       {{"num_args", "2"}, {"of", "Crop"}, {"input", "1"}},
       {kImage, kImage},
       "C1"},
      {"Embedding",
       {{"input_dim", "5"}, {"output_dim", "2"}},
       {{3}, {5, 3}},
       "C1"},
      {"UpSampling",
       {{"scale", "2"}, {"sample_type", "nearest"}, {"num_args", "1"}},
       {{2, 3, 4}},
       "C1"},
      {"UpSampling",
       {{"scale", "2"}, {"sample_type", "nearest"}, {"num_args", "2"}},
       {kImage, {2, 3, 5, 5}},
       "C2"},
      {"UpSampling",
       {{"scale", "2"},
        {"sample_type", "nearest"},
        {"num_args", "2"},
        {"multi_input_mode", "sum"}},
       {kImage, {2, 4, 8, 8}},
       "C3"},
      {"_contrib_BilinearResize2D", {}, {{2, 3, 4}}, "C1"},
      {"_contrib_BilinearResize2D",
       {{"scale_height", "0.1"}, {"scale_width", "1"}},
       {kImage},
       "C2"},
      {"Crop", {{"num_args", "3"}}, {kImage}, "C1"},
      {"Crop", {{"num_args", "1"}}, {kImage}, "C2"},
      {"Crop",
       {{"num_args", "1"}, {"h_w", "(4,4)"}, {"offset", "(5,0)"}},
       {kImage},
       "C3"},
      {"SequenceMask", {{"axis", "2"}}, {kImage}, "C1"},
      {"SequenceReverse", {{"axis", "1"}}, {kImage}, "C1"},
      {"SequenceLast", {}, {{4}}, "C2"},
      {"SequenceLast", {{"use_sequence_length", "1"}}, {{4, 3}, {4}}, "C3"},
      {"BilinearSampler", {}, {kImage, {2, 3, 4, 4}}, "C1"},
      {"GridGenerator", {{"transform_type", "affine"}}, {{2, 6}}, "C1"},
      {"GridGenerator", {{"transform_type", "warp"}}, {{2, 3, 4, 4}}, "C2"},
      {"SpatialTransformer",
       {{"transform_type", "affine"}, {"sampler_type", "bilinear"}},
       {kImage, any},
       "C1"},
      {"SpatialTransformer",
       {{"transform_type", "affine"},
        {"sampler_type", "bilinear"},
        {"target_shape", "(2,2)"}},
       {kImage, {2, 5}},
       "C2"},
      {"ROIPooling", kRoi, {kImage, {4, 4}}, "C1"},
      {"ROIPooling",
       {{"pooled_size", "(2,)"}, {"spatial_scale", "1"}},
       {kImage, {4, 5}},
       "C2"},
      {"ROIPooling",
       {{"pooled_size", "(2,2)"}, {"spatial_scale", "2"}},
       {kImage, {4, 5}},
       "spatial_scale"},
      {"_contrib_ROIAlign", kRoi, {{2, 3, 4}, {4, 5}}, "C1"},
      {"_contrib_ROIAlign",
       {{"pooled_size", "(0,2)"}, {"spatial_scale", "1"}},
       {kImage, {4, 5}},
       "C2"},
      {"_contrib_ROIAlign",
       With(kRoi, {{"position_sensitive", "1"}}),
       {kImage, {4, 5}},
       "C3"},
      {"_contrib_PSROIPooling",
       {{"spatial_scale", "1"}, {"output_dim", "2"}, {"pooled_size", "2"}},
       {kImage, {4, 5}},
       "C2"},
      {"_contrib_MultiBoxPrior", {}, {{2, 3, 4}}, "C1"},
      {"_contrib_MultiBoxPrior", {{"sizes", "(-1,)"}}, {kImage}, "C2"},
      {"Correlation", {{"kernel_size", "2"}}, {kImage, kImage}, "C1"},
      {"Correlation", {}, {{2, 3}, {2, 3}}, "C2"},
      {"Correlation", {{"max_displacement", "9"}}, {kImage, kImage}, "C3"},
      {"_contrib_DeformableConvolution",
       Conv({{"kernel", "(3,)"}}),
       {kImage, any, any},
       "C1"},
      {"_contrib_DeformableConvolution",
       Conv({{"kernel", "(3,3)"}, {"dilate", "(0,1)"}}),
       {kImage, any, any},
       "C2"},
      {"_contrib_DeformableConvolution",
       Conv({{"kernel", "(3,3)"}}),
       {{2, 3, 8}, any, any},
       "C3"},
      {"_contrib_DeformableConvolution",
       Conv({{"kernel", "(9,9)"}}),
       {kImage, any, any},
       "C4"},
      {"_contrib_DeformableConvolution",
       Conv({{"kernel", "(3,3)"}, {"num_deformable_group", "2"}}),
       {kImage, any, any},
       "C5"},
      {"_contrib_interleaved_matmul_selfatt_qk",
       {{"heads", "2"}},
       {{4, 2, 7}},
       "C1"},
      {"_contrib_interleaved_matmul_encdec_valatt",
       {{"heads", "2"}},
       {{4, 2, 8}, {4, 4}},
       "C2"},
  };
}

TEST_CASE("a violated constraint is refused under its label") {
  for (const Refusal& refusal : Refusals()) {
    const OpRun run =
        InferOp(refusal.op, refusal.attrs, refusal.shapes, refusal.training);
    CAPTURE(refusal.op);
    CAPTURE(run.error);
    const std::string label = refusal.label;
    const bool labelled =
        label[0] == 'C' ? run.error.find(label + ": ") != std::string::npos
                        : run.error.find(label) != std::string::npos;
    CHECK_MESSAGE(labelled, "expected " << label);
  }
}

TEST_CASE("what is at the edge of a constraint is accepted") {
  CHECK(
      InferOp("Convolution", Conv({{"kernel", "(8,8)"}}), {kImage, {}}).Out() ==
      "(2, 4, 1, 1)");
  CHECK(InferOp("Convolution", Conv({{"kernel", "(3,3)"}, {"workspace", "-1"}}),
                {kImage, {}})
            .Out() == "(2, 4, 6, 6)");
  CHECK(
      InferOp("Pooling", {{"kernel", "(9,9)"}, {"global_pool", "1"}}, {kImage})
          .Out() == "(2, 3, 1, 1)");
  CHECK(InferOp("Dropout", {{"p", "0"}}, {kImage}, true).error == "");
  CHECK(InferOp("LRN", {{"nsize", "5"}}, {kImage}).error == "");
  CHECK(InferOp("GroupNorm", {{"num_groups", "3"}}, {kImage, {3}, {3}}).error ==
        "");
}

}  // namespace
}  // namespace mxc
