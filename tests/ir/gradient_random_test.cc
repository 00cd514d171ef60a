// SPDX-License-Identifier: Apache-2.0
// Gradient rules against central differences, in double, on random attributes,
// shapes and values.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/graph/builder.h"
#include "ir/graph/gradient.h"
#include "ir/graph/supported.h"
#include "tests/ir/op_draw.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

constexpr int kAttempts = 300;   // of each operator
constexpr int kComparisons = 6;  // then it is done
constexpr int kElements = 6;     // of an input, in one comparison
constexpr int64_t kMostGradientElements = 200;  // of a tensor

// Gradients that MXNet defines otherwise than calculus.
struct Exempt {
  std::string_view op;
  std::string_view attribute, text;  // only with this one; empty: always
  std::string_view reason;
};
constexpr Exempt kExempt[] = {
    {"BlockGrad", "", "", "stops the gradient"},
    {"_contrib_round_ste", "", "", "the straight-through estimator"},
    {"_contrib_sign_ste", "", "", "the straight-through estimator"},
    {"_contrib_gradientmultiplier", "", "", "scales the gradient"},
    {"_contrib_box_iou", "", "", "passes nothing"},
    {"_contrib_box_decode", "", "", "passes nothing"},
    {"_contrib_box_encode", "", "", "passes nothing"},
    {"_contrib_MultiBoxDetection", "", "", "passes nothing"},
    {"_contrib_MultiBoxTarget", "", "", "passes nothing"},
    {"_contrib_Proposal", "", "", "passes nothing"},
    {"_contrib_MultiProposal", "", "", "passes nothing"},
    {"_contrib_bipartite_matching", "", "", "passes nothing"},
    {"_histogram", "", "", "passes nothing"},
    {"_npi_percentile", "", "", "passes nothing"},
    {"_npx_nonzero", "", "", "passes nothing"},
    {"_npi_unique", "", "", "passes nothing"},
    {"_image_random_brightness", "", "", "MXNet passes the output's"},
    {"_image_random_contrast", "", "", "MXNet passes the output's"},
    {"_image_random_saturation", "", "", "MXNet passes the output's"},
    {"_image_random_hue", "", "", "MXNet passes the output's"},
    {"_image_random_color_jitter", "", "", "MXNet passes the output's"},
    {"_image_random_flip_left_right", "", "", "MXNet passes the output's"},
    {"_image_random_flip_top_bottom", "", "", "MXNet passes the output's"},
    {"_npi_boolean_mask_assign_scalar", "", "", "passes nothing"},
    {"_npi_boolean_mask_assign_tensor", "", "", "passes nothing"},
    {"_contrib_box_nms", "in_format", "center", "MXNet's is not converted"},
    {"_contrib_box_nms", "out_format", "center", "MXNet's is not converted"},
    {"IdentityAttachKLSparseReg", "", "", "adds the gradient of a penalty"},
    {"_contrib_index_copy", "", "", "passes to rows that were overwritten"},
    {"scatter_nd", "", "", "passes to parts that were overwritten"},
    {"_contrib_quantize", "", "", "none through integers"},
    {"_contrib_quantize_v2", "", "", "none through integers"},
    {"_contrib_requantize", "", "", "none through integers"},
    {"_contrib_quantized_conv", "", "", "none through integers"},
    {"_contrib_quantized_fully_connected", "", "", "none through integers"},
    {"_contrib_quantized_pooling", "", "", "none through integers"},
    {"_contrib_quantized_act", "", "", "none through integers"},
    {"_contrib_quantized_flatten", "", "", "none through integers"},
    {"_contrib_quantized_concat", "", "", "none through integers"},
    {"_contrib_quantized_elemwise_add", "", "", "none through integers"},
    {"_contrib_quantized_elemwise_mul", "", "", "none through integers"},
    {"_contrib_quantized_batch_norm", "", "", "none through integers"},
    {"_contrib_quantized_embedding", "", "", "none through integers"},
    {"_contrib_dequantize", "", "", "none through integers"},
    {"_contrib_quantize_asym", "", "", "none through integers"},
    {"_mod_scalar", "scalar", "0", "1, though x mod 0 is 0"},
    {"_npi_eigh", "", "", "MXNet has none"},
    {"_npi_eigvalsh", "", "", "MXNet has none"},
    {"_npi_pinv_scalar_rcond", "", "", "MXNet has none"},
    {"_linalg_potrf", "", "", "symmetric, as the input must be"},
    {"_linalg_syevd", "", "", "symmetric, as the input must be"},
    {"LeakyReLU", "act_type", "selu", "MXNet's is wrong"},
    {"SoftmaxActivation", "", "", "MXNet's is wrong in mode instance"},
    {"LeakyReLU", "slope", "-1", "takes the side from the output's sign"},
};

// Inputs that have none in MXNet, though the output depends on them.
struct WithoutGradient {
  std::string_view op;
  int input;
};
constexpr WithoutGradient kWithoutGradient[] = {
    {"_contrib_ROIAlign", 1},
    {"_roi_max_align", 1},
    {"_contrib_count_sketch", 1},
    {"_contrib_count_sketch", 2},
    {"_random_pdf_poisson", 0},
    {"_random_pdf_negative_binomial", 0},
    {"_random_pdf_generalized_negative_binomial", 0},
    {"_contrib_RROIAlign", 1},
    {"_contrib_PSROIPooling", 1},
    {"_contrib_DeformablePSROIPooling", 1},
};

// Operators of which only output 0 passes a gradient.
constexpr std::string_view kFirstOutputOnly[] = {"BatchNorm",
                                                 "BatchNorm_v1",
                                                 "CuDNNBatchNorm",
                                                 "_contrib_SyncBatchNorm",
                                                 "_contrib_BatchNormWithReLU",
                                                 "LayerNorm",
                                                 "GroupNorm",
                                                 "LeakyReLU",
                                                 "_npi_average"};

bool IsExempt(const Operator& op, const std::vector<AttrText>& attrs) {
  return op.loss_head ||
         std::ranges::any_of(kExempt, [&](const Exempt& exempt) {
           if (exempt.op != op.name) return false;
           return exempt.attribute.empty() ||
                  std::ranges::any_of(attrs, [&](const AttrText& attr) {
                    return attr.first == exempt.attribute &&
                           attr.second == exempt.text;
                  });
         });
}

bool HasNoGradient(const Operator& op, int input) {
  return std::ranges::any_of(kWithoutGradient, [&](const auto& entry) {
    return entry.op == op.name && entry.input == input;
  });
}

bool SmallFloats(const OpRun& run) {
  for (const auto& list : {run.inputs, run.outputs}) {
    for (const TensorType& type : list) {
      if (!type.known()) return false;
      const auto count = CheckedProduct(type.shape.dims());
      if (!count || *count > kMostGradientElements || *count < 1) return false;
    }
  }
  return std::ranges::all_of(run.inputs, [](const TensorType& type) {
    return type.dtype == DType::kF32;
  });
}

// An operator with random inputs, and Σ head · output for random heads.
class Comparison {
 public:
  Comparison(const Operator& op, const std::vector<AttrText>& attrs,
             const std::vector<TensorType>& types, Draw& draw)
      : op_(op), draw_(draw), one_(BuildOneNode(op.name, attrs, types, true)) {
    for (const Value& input : one_.node->inputs) {
      values_[input.node->name] = Random(input.shape(), 0.1, 0.9);
    }
    AddHeads();
  }

  // How many elements were compared; -1 if some differ.
  int Run() {
    std::vector<Value> wrt;
    const auto specs = op_.inputs(one_.node->attrs.get());
    for (size_t i = 0; i < specs.size(); ++i) {
      const int input = static_cast<int>(i);
      if (specs[i].kind == InputKind::kState ||
          specs[i].kind == InputKind::kLabel || HasNoGradient(op_, input)) {
        continue;
      }
      wrt.push_back(one_.node->inputs[i]);
    }
    if (wrt.empty() || heads_.empty()) return 0;
    auto gradients = Gradients(one_.graph, heads_, wrt);
    REQUIRE(gradients.ok());
    int compared = 0;
    for (size_t i = 0; i < wrt.size(); ++i) {
      // What is drawn depends on the parameters of its distribution, but MXNet
      // passes nothing to them.
      if (IsRandom() && !(*gradients)[i]) continue;
      const int here = Compare(wrt[i], (*gradients)[i]);
      if (here < 0) return -1;
      compared += here;
    }
    return compared;
  }

  std::string difference() const { return difference_; }

 private:
  bool IsRandom() const {
    return op_.random && op_.random(one_.node->attrs.get(), true);
  }

  // Of either sign where the operator bears it.
  Tensor Random(const Shape& shape, double low, double high) {
    const bool positive = draw_.Number(0, 1) == 0;
    std::vector<double> values;
    for (int64_t i = 0; i < shape.elements(); ++i) {
      const double value = draw_.Real(low, high);
      values.push_back(positive || draw_.Number(0, 1) == 0 ? value : -value);
    }
    return TypedTensor(DType::kF64, shape, values);
  }

  void AddHeads() {
    const int visible = op_.visible_outputs
                            ? op_.visible_outputs(one_.node->attrs.get())
                            : static_cast<int>(one_.node->types.size());
    const bool first =
        std::ranges::count(kFirstOutputOnly, std::string_view(op_.name)) > 0;
    for (int k = 0; k < (first ? 1 : visible); ++k) {
      const TensorType& type = one_.node->types[k];
      if (type.dtype != DType::kF32) continue;
      Node* head = one_.graph.AddVariable(fmt::format("head{}", k));
      head->types[0] = type;
      values_[head->name] = Random(type.shape, 0.1, 0.9);
      heads_.push_back({one_.node->out(k), head->out()});
    }
  }

  double Loss() {
    std::vector<Value> outputs;
    for (const HeadGradient& head : heads_) outputs.push_back(head.head);
    const auto tensors = EvaluateValues(one_.graph, outputs, values_, true);
    double sum = 0;
    for (size_t k = 0; k < tensors.size(); ++k) {
      const Tensor& head = values_.at(heads_[k].gradient.node->name);
      for (int64_t i = 0; i < head.shape().elements(); ++i) {
        sum += head.At(i) * tensors[k].At(i);
      }
    }
    return sum;
  }

  double LossWith(const std::string& name, int64_t element, double value) {
    const Tensor kept = values_.at(name);
    std::vector<double> all;
    for (int64_t i = 0; i < kept.shape().elements(); ++i) {
      all.push_back(i == element ? value : kept.At(i));
    }
    values_[name] = TypedTensor(DType::kF64, kept.shape(), all);
    const double loss = Loss();
    values_[name] = kept;
    return loss;
  }

  double Slope(const std::string& name, int64_t element, double step) {
    const double at = values_.at(name).At(element);
    return (LossWith(name, element, at + step) -
            LossWith(name, element, at - step)) /
           (2 * step);
  }

  // Elements at a kink, or without a finite value, say nothing.
  int Compare(Value of, Value gradient) {
    const std::string& name = of.node->name;
    const int64_t elements = of.shape().elements();
    std::optional<Tensor> ruled;
    if (gradient) {
      ruled = EvaluateValues(one_.graph, std::vector<Value>{gradient}, values_,
                             true)[0];
    }
    int compared = 0;
    for (int n = 0; n < kElements; ++n) {
      const int64_t element = draw_.Number(0, elements - 1);
      const double slope = Slope(name, element, 1e-5);
      const double coarse = Slope(name, element, 1e-4);
      const double tolerance = 1e-4 * std::max(1.0, std::abs(slope));
      if (!std::isfinite(slope) || std::abs(slope - coarse) > tolerance) {
        continue;
      }
      const double rule = ruled ? ruled->At(element) : 0;
      if (!(std::abs(rule - slope) <= tolerance)) {
        difference_ =
            fmt::format("{}[{}]: {}, expected {}", name, element, rule, slope);
        return -1;
      }
      ++compared;
    }
    return compared;
  }

  const Operator& op_;
  Draw& draw_;
  OneNode one_;
  std::map<std::string, Tensor> values_;
  std::vector<HeadGradient> heads_;
  std::string difference_;
};

// Elements compared; -1 if some differ. 0 where the operator refuses these
// shapes, or they are large.
int CompareInstance(const Operator& op, const std::vector<AttrText>& attrs,
                    const std::vector<Shape>& shapes, Draw& draw) {
  const OpRun run = InferOp(op.name, attrs, shapes, true);
  if (!run.error.empty() || !SmallFloats(run)) return 0;
  Comparison comparison(op, attrs, run.inputs, draw);
  std::string text;
  for (const auto& [name, value] : attrs) text += name + "=" + value + " ";
  for (const TensorType& type : run.inputs) text += ToString(type) + " ";
  CAPTURE(text);
  const int compared = comparison.Run();
  CHECK_MESSAGE(compared >= 0, comparison.difference());
  return compared;
}

int CompareOperator(const Operator& op, uint32_t seed) {
  int comparisons = 0, elements = 0;
  for (int i = 0; i < kAttempts && comparisons < kComparisons; ++i) {
    Draw draw(seed + static_cast<uint32_t>(i), Manner::kTame);
    const std::vector<AttrText> attrs = DrawAttrs(op, draw);
    const int count = CountInputs(op, attrs);
    if (count <= 0 || IsExempt(op, attrs)) continue;
    const int compared =
        CompareInstance(op, attrs, DrawShapes(draw, count), draw);
    if (compared < 0) return elements;
    if (compared > 0) ++comparisons;
    elements += compared;
  }
  return elements;
}

// Shapes that random draws do not meet.
struct Given {
  std::string_view op;
  std::vector<AttrText> attrs;
  std::vector<Shape> shapes;
};

const std::vector<Given>& GivenShapes() {
  static const std::vector<Given> given = {
      {"CTCLoss", {{"blank_label", "last"}}, {{5, 2, 3}, {2, 2}}},
      {"ROIPooling",
       {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}},
       {{1, 2, 5, 5}, {2, 5}}},
      {"_contrib_ROIAlign",
       {{"pooled_size", "(2, 2)"},
        {"spatial_scale", "1"},
        {"sample_ratio", "2"}},
       {{1, 2, 5, 5}, {2, 5}}},
      {"_roi_max_align",
       {{"pooled_size", "(2, 2)"},
        {"spatial_scale", "1"},
        {"sample_ratio", "2"}},
       {{1, 2, 5, 5}, {2, 5}}},
      {"_contrib_RROIAlign",
       {{"pooled_size", "(2, 2)"},
        {"spatial_scale", "1"},
        {"sampling_ratio", "2"}},
       {{1, 2, 5, 5}, {2, 6}}},
      {"_contrib_PSROIPooling",
       {{"spatial_scale", "1"},
        {"output_dim", "1"},
        {"group_size", "2"},
        {"pooled_size", "2"}},
       {{1, 4, 5, 5}, {2, 5}}},
      {"_contrib_DeformablePSROIPooling",
       {{"spatial_scale", "1"},
        {"output_dim", "1"},
        {"group_size", "2"},
        {"pooled_size", "2"},
        {"part_size", "2"},
        {"sample_per_part", "2"},
        {"trans_std", "0.1"}},
       {{1, 4, 5, 5}, {2, 5}, {2, 2, 2, 2}}},
      {"_contrib_interleaved_matmul_encdec_qk",
       {{"heads", "2"}},
       {{3, 1, 4}, {2, 1, 8}}},
      {"_contrib_interleaved_matmul_encdec_valatt",
       {{"heads", "2"}},
       {{2, 1, 8}, {2, 3, 2}}},
  };
  return given;
}

TEST_CASE("gradient rules agree with central differences") {
  std::vector<std::string> never;
  uint32_t seed = 1;
  for (const Operator* op : AllOperators()) {
    seed += kAttempts;
    if (!op->gradient || !CanBeCompiled(*op) || op->internal || op->call) {
      continue;
    }
    CAPTURE(op->name);
    const bool given = std::ranges::any_of(
        GivenShapes(),
        [&](const Given& entry) { return entry.op == op->name; });
    const bool exempt = IsExempt(*op, {}) || op->random;
    if (CompareOperator(*op, seed) == 0 && !exempt && !given) {
      never.push_back(op->name);
    }
  }
  // What gives no floats has no gradient; what random draws never meet stands
  // in GivenShapes, or mxc-cases alone checks it.
  MESSAGE("not compared: ", fmt::format("{}", fmt::join(never, " ")));
  CHECK(never.size() < 48);
}

TEST_CASE("gradient rules agree with central differences on given shapes") {
  for (const Given& given : GivenShapes()) {
    CAPTURE(given.op);
    Draw draw(7, Manner::kTame);
    CHECK(CompareInstance(*FindOperator(given.op), given.attrs, given.shapes,
                          draw) > 0);
  }
}

}  // namespace
}  // namespace mxc
