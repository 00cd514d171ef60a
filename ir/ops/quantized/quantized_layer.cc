// SPDX-License-Identifier: Apache-2.0
// _quantized_layer: see quantized_layer.h.
#include "ir/ops/quantized/quantized_layer.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ir/ops/nn/spatial/spatial.h"
#include "ir/ops/quantized/quantize_filters.h"
#include "ir/ops/quantized/round_to_levels.h"
#include "ir/ops/tensor/elementwise/clip.h"

namespace mxc {

void QuantizedLayerAttrs::Describe(Fields& f) {
  f("layer", layer).Required().Doc("Convolution or FullyConnected");
  f("settings", settings).Doc("its attributes");
  f("with_norm", with_norm).Doc("a BatchNorm follows");
  f("fix_gamma", fix_gamma).Doc("gamma of that counts as 1");
  f("eps", eps).Doc("of that");
  f("with_sum", with_sum).Doc("another tensor is added");
  f("activation", activation).Doc("a function before that");
  f("activation_settings", activation_settings).Doc("its attributes");
  f("sum_activation", sum_activation).Doc("a function behind that");
  f("sum_activation_settings", sum_activation_settings).Doc("its attributes");
  f("positive", positive).Doc("the output has no negative numbers");
  f("min_calib_range", min_calib_range).Doc("least value of the output");
  f("max_calib_range", max_calib_range).Doc("greatest value of the output");
  f("float_output", float_output).Doc("the output is float32");
  f("quantized_weight", quantized_weight).Doc("weight is of 8-bit numbers");
  f("truncates_bias", truncates_bias).Doc("towards zero, to what is added");
}

AttrsPtr QuantizedLayerAttrs::LayerAttrs() const {
  std::vector<AttrError> errors;
  AttrsPtr attrs = FindOperator(layer)->parse(ParseAttrLines(settings), errors);
  MXC_CHECK(errors.empty(), "{}: {}", layer, errors[0].message);
  return attrs;
}

bool QuantizedLayerAttrs::has_bias() const {
  return FindOperator(layer)->inputs(LayerAttrs().get()).size() > 2;
}

std::vector<InputSpec> QuantizedLayerAttrs::Inputs() const {
  std::vector<InputSpec> inputs =
      FindOperator(layer)->inputs(LayerAttrs().get());
  const auto add = [&](std::vector<const char*> names, InputKind kind) {
    for (const char* name : names) inputs.push_back({name, kind});
  };
  const bool bias = inputs.size() > 2;
  if (with_norm) {
    add({"gamma", "beta", "moving_mean", "moving_var"}, InputKind::kParameter);
  }
  if (with_sum) add({"sum"}, InputKind::kData);
  add({"min_data", "max_data"}, InputKind::kData);
  if (quantized_weight) add({"min_weight", "max_weight"}, InputKind::kData);
  if (quantized_weight && bias) add({"min_bias", "max_bias"}, InputKind::kData);
  if (with_sum) add({"min_sum", "max_sum"}, InputKind::kData);
  return inputs;
}

bool HasNoNegatives(const Node& function) {
  if (function.Is("Activation")) {
    for (const auto& [name, text] : function.op->print(function.attrs.get())) {
      if (name != "act_type") continue;
      return text == "relu" || text == "sigmoid" || text == "softrelu";
    }
  }
  constexpr std::string_view kPositive[] = {"clip", "square", "sqrt", "exp",
                                            "abs"};
  return std::ranges::any_of(
      kPositive, [&](std::string_view name) { return function.Is(name); });
}

namespace {

constexpr double kGreatestI32 = 2147483647;

int PlaceOf(const QuantizedLayerAttrs& a, std::string_view input) {
  const std::vector<InputSpec> inputs = a.Inputs();
  const auto found = std::ranges::find(inputs, input, &InputSpec::name);
  return static_cast<int>(found - inputs.begin());
}

DType OutputType(const QuantizedLayerAttrs& a) {
  if (a.float_output) return DType::kF32;
  if (!a.calibrated()) return DType::kI32;
  return a.positive ? DType::kU8 : DType::kI8;
}

}  // namespace

void QuantizedLayerTypes(const QuantizedLayerAttrs& a, TypeInference& t) {
  const bool bias = a.has_bias();
  ShapesOf(a.layer, a.LayerAttrs().get(), bias ? 3 : 2, t);
  const DType parameter = a.quantized_weight ? DType::kI8 : DType::kF32;
  t.SetInDType(1, parameter);
  if (bias && t.InDType(2) != DType::kI32) t.SetInDType(2, parameter);
  for (int i = PlaceOf(a, "gamma"), end = i + 4; a.with_norm && i < end; ++i) {
    if (t.In(1).known_rank()) t.SetIn(i, Shape{t.In(1)[0]});
    t.SetInDType(i, DType::kF32);
  }
  RequireQuantized(t, 0);
  if (a.with_sum) {
    t.SetIn(PlaceOf(a, "sum"), t.Out(0));
    RequireQuantized(t, PlaceOf(a, "sum"));
  }
  SetRangeTypes(t, PlaceOf(a, "min_data"), 1);
  t.SetOutDType(0, OutputType(a));
}

namespace {

// Writes one node out. A scale is what a number is multiplied by to be a level.
class LayerParts {
 public:
  LayerParts(const QuantizedLayerAttrs& a, const Node& node, GraphBuilder& b)
      : a_(a),
        node_(node),
        b_(b),
        output_(node.types[0]),
        inner_{a.activation, a.activation_settings},
        outer_{a.sum_activation, a.sum_activation_settings} {}

  std::vector<Value> Write() {
    data_scale_ = ScaleOf("data", "min_data", kWideLevels);
    if (a_.quantized_weight) {
      TakeWeight();
    } else {
      QuantizeWeight();
    }
    const Value sums = Sums();
    if (output_.dtype == DType::kI32) return {Integers(sums), Low(), High()};
    // The output's scale. Where the functions allow it y counts its levels at
    // once, as in oneDNN.
    Value scale = b_.Scalar(OutputScale());
    const bool early = IsScalable(inner_) && IsScalable(outer_);
    if (early) ScaleFunctions();
    const Value level = early ? scale : b_.Scalar(1);
    Value y =
        b_.Mul(b_.Cast(sums, DType::kF32),
               ByChannel(b_.Div(b_.Div(level, data_scale_), weight_scale_)));
    y = Activated(y, inner_);
    if (a_.with_sum) y = b_.Add(y, Summand(level));
    y = Activated(y, outer_);
    if (!early) y = b_.Mul(y, scale);
    if (a_.float_output) return {y};
    const DType written = WrittenType();
    const Value levels = b_.Cast(Rounded(y, written), written);
    return {b_.Cast(levels, output_.dtype), b_.Scalar(*a_.min_calib_range),
            b_.Scalar(*a_.max_calib_range)};
  }

 private:
  Value In(std::string_view name) const {
    return node_.inputs[PlaceOf(a_, name)];
  }
  Value Magnitude(std::string_view low) const {
    const int at = PlaceOf(a_, low);
    return b_.Maximum(b_.Abs(node_.inputs[at]), b_.Abs(node_.inputs[at + 1]));
  }
  Value ScaleOf(std::string_view tensor, std::string_view low,
                const Levels& levels) const {
    return b_.Div(LevelsOf(In(tensor).type().dtype, levels), Magnitude(low));
  }
  Value Rounded(Value x, DType levels) const {
    return b_.Op<op::RoundToLevels>({x}, {.levels = levels});
  }
  // oneDNN adds to the summand where it lies.
  DType WrittenType() const {
    return a_.with_sum ? In("sum").type().dtype : output_.dtype;
  }
  double OutputScale() const {
    if (a_.float_output) return 1;
    const double magnitude =
        std::max(std::abs(*a_.min_calib_range), std::abs(*a_.max_calib_range));
    return LevelsOf(output_.dtype, kWideLevels) / magnitude;
  }
  // One value, or one a filter, beside the axes of the output.
  Value ByChannel(Value x) const {
    const int rank = output_.shape.rank();
    Extents dims(rank, 1);
    dims[ChannelsAreLast() ? rank - 1 : 1] = x.shape()[0];
    return b_.Reshape(x, Shape(std::move(dims)));
  }
  bool ChannelsAreLast() const {
    if (a_.layer == "FullyConnected") return true;
    for (const auto& [name, text] : ParseAttrLines(a_.settings)) {
      if (name == "layout") return IsChannelsLast(text);
    }
    return false;
  }

  void TakeWeight() {
    weight_ = In("weight");
    weight_magnitude_ = Magnitude("min_weight");
    weight_scale_ = b_.Div(kWideLevels.int8, weight_magnitude_);
    if (!a_.has_bias()) return;
    bias_ = In("bias");
    if (bias_.type().dtype == DType::kI32) return;
    const Value own = ScaleOf("bias", "min_bias", kWideLevels);
    const Value scaled =
        b_.Mul(b_.Cast(bias_, DType::kF32),
               b_.Div(b_.Mul(data_scale_, weight_scale_), own));
    bias_ = b_.Cast(a_.truncates_bias ? scaled : Rounded(scaled, DType::kI32),
                    DType::kI32);
  }

  void QuantizeWeight() {
    const int64_t filters = In("weight").shape()[0];
    if (a_.has_bias()) bias_ = In("bias");
    Value slope = b_.Ones({DType::kF32, Shape{filters}});
    if (a_.with_norm) slope = ApplyNorm();
    const bool alike = output_.dtype == DType::kI32;
    const std::vector<Value> parts = b_.Ops<op::QuantizeFilters>(
        {In("weight"), slope, GreatestScale()}, {.alike = alike});
    weight_ = parts[0];
    weight_scale_ = parts[1];
    weight_magnitude_ = alike ? b_.SliceAxis(parts[2], 0, 0, 1) : parts[2];
    if (!bias_) return;
    const Value scaled = b_.Mul(bias_, b_.Mul(data_scale_, weight_scale_));
    bias_ = b_.Cast(Rounded(scaled, DType::kI32), DType::kI32);
  }

  // Each filter has one, with which a bias takes half of i32.
  Value GreatestScale() const {
    if (!bias_) {
      return b_.Constant(
          Tensor::Filled({DType::kF32, Shape{In("weight").shape()[0]}},
                         std::numeric_limits<float>::infinity()),
          "no limit");
    }
    return b_.Div(kGreatestI32 / 2, b_.Mul(b_.Abs(bias_), data_scale_));
  }

  // Returns the factor of the filters; the bias is that of both.
  Value ApplyNorm() {
    // In f64, as MXNet does: an f32's last bit may move a level.
    const Value variance = b_.Cast(In("moving_var"), DType::kF64);
    const Value deviation = b_.Sqrt(b_.Add(variance, a_.eps));
    const Value wide =
        a_.fix_gamma ? b_.Div(1, deviation)
                     : b_.Div(b_.Cast(In("gamma"), DType::kF64), deviation);
    const Value slope = b_.Cast(wide, DType::kF32);
    const Value mean = In("moving_mean");
    const Value shift = bias_ ? b_.Sub(bias_, mean) : b_.Neg(mean);
    bias_ = b_.Add(In("beta"), b_.Mul(slope, shift));
    return slope;
  }

  // i32, exact.
  Value Sums() const {
    std::vector<AttrText> settings = ParseAttrLines(a_.settings);
    std::erase_if(settings,
                  [](const AttrText& s) { return s.first == "no_bias"; });
    settings.emplace_back("no_bias", PrintBool(true));
    const Operator& integers = a_.layer == "Convolution"
                                   ? OperatorOf<op::IntegerConvolution>()
                                   : OperatorOf<op::IntegerFullyConnected>();
    const Value sums =
        b_.Op(integers, {node_.inputs[0], weight_}, settings, "sums");
    return bias_ ? b_.Add(sums, ByChannel(bias_)) : sums;
  }

  // A function of the layer; none: an operator of no name.
  struct Function {
    std::string op, settings;
  };

  // f(x) = g(c · x) / c for every positive c, with a g of the same operator.
  static bool IsScalable(const Function& f) {
    const std::vector<AttrText> attrs = ParseAttrLines(f.settings);
    return f.op.empty() || f.op == "clip" ||
           (f.op == "Activation" &&
            std::ranges::count(attrs, AttrText{"act_type", "relu"}) > 0);
  }

  // They are of levels of the output then. The last one is left out where
  // rounding to levels does as much.
  void ScaleFunctions() {
    inner_ = ScaledToLevels(inner_);
    outer_ = ScaledToLevels(outer_);
    Function& last = outer_.op.empty() && !a_.with_sum ? inner_ : outer_;
    if (!a_.float_output && IsLimit(last)) last = {};
  }

  Function ScaledToLevels(const Function& f) const {
    if (f.op != "clip") return f;
    const ClipAttrs limits = LimitsOf(f);
    return {f.op,
            PrintAttrLines(
                {{"a_min", fmt::format("{}", limits.a_min * OutputScale())},
                 {"a_max", fmt::format("{}", limits.a_max * OutputScale())}})};
  }

  static ClipAttrs LimitsOf(const Function& f) {
    std::vector<AttrError> errors;
    const AttrsPtr attrs =
        FindOperator(f.op)->parse(ParseAttrLines(f.settings), errors);
    MXC_CHECK(errors.empty(), "{}: {}", f.op, errors[0].message);
    return *static_cast<const ClipAttrs*>(attrs.get());
  }

  // Returns whether f, of levels, changes none that are written.
  bool IsLimit(const Function& f) const {
    const bool has_sign = WrittenType() == DType::kI8;
    if (f.op != "clip") return !f.op.empty() && !has_sign;
    const ClipAttrs limits = LimitsOf(f);
    return limits.a_min <= (has_sign ? -128 : 0) &&
           limits.a_max >= (has_sign ? 127 : 255);
  }

  Value Activated(Value x, const Function& f) const {
    return f.op.empty()
               ? x
               : b_.Op(*FindOperator(f.op), {x}, ParseAttrLines(f.settings));
  }

  // By a level of the output, or as it is.
  Value Summand(Value level) const {
    const Value factor = b_.Div(level, ScaleOf("sum", "min_sum", kWideLevels));
    return b_.Mul(b_.Cast(In("sum"), DType::kF32), factor);
  }

  Value Integers(Value sums) const {
    if (a_.activation.empty()) return sums;
    const Value y = Activated(b_.Cast(sums, DType::kF32), inner_);
    return b_.Cast(Rounded(y, DType::kI32), DType::kI32);
  }
  Value High() const {
    const Value level = b_.Div(1, ScaleOf("data", "min_data", kPlainLevels));
    return b_.Mul(b_.Mul(level, weight_magnitude_),
                  kGreatestI32 / kPlainLevels.int8);
  }
  Value Low() const { return b_.Neg(High()); }

  const QuantizedLayerAttrs& a_;
  const Node& node_;
  GraphBuilder& b_;
  const TensorType output_;
  Function inner_, outer_;  // before the sum, and behind it
  Value data_scale_, weight_scale_, weight_magnitude_;
  Value weight_, bias_;  // levels: i8, i32
};

std::vector<std::string> QuantizedLayerOutputs(const QuantizedLayerAttrs& a) {
  if (a.float_output) return {"output"};
  return kRangedOutputs;
}

}  // namespace

std::vector<Value> QuantizedLayerParts(const QuantizedLayerAttrs& a,
                                       const Node& node, GraphBuilder& b) {
  return LayerParts(a, node, b).Write();
}

MXC_OP(QuantizedLayer) {
  return Op<QuantizedLayerAttrs>("_quantized_layer")
      .Doc("a layer of 8-bit numbers")
      .Internal()
      .MultipliesIntegers()
      .InputsOf([](const QuantizedLayerAttrs& a) { return a.Inputs(); })
      .OutputsOf(QuantizedLayerOutputs)
      .Types(QuantizedLayerTypes)
      .Decompose(QuantizedLayerParts)
      .ZeroGradient();
}

}  // namespace mxc
