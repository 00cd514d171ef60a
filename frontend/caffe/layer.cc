// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "frontend/caffe/importer.h"
#include "frontend/protobuf/text.h"
#include "frontend/variables.h"
#include "ir/ops/tensor/indexing/slice_axis.h"
#include "ir/ops/tensor/reduction/reduction.h"
#include "ir/ops/tensor/shape/concat.h"
#include "ir/ops/tensor/shape/reshape.h"

namespace mxc::caffe {
namespace {

// Of Caffe's xavier and msra: a variance of `magnitude` over the fans is
// MXNet's.
std::string XavierText(const char* distribution, VarianceNorm norm,
                       int magnitude) {
  const char* factor = norm == VarianceNorm::kFAN_OUT   ? "out"
                       : norm == VarianceNorm::kAVERAGE ? "avg"
                                                        : "in";
  return fmt::format(
      R"(["xavier", {{"rnd_type": "{}", "factor_type": "{}", "magnitude": {}}}])",
      distribution, factor, magnitude);
}

}  // namespace

std::string InitializerOf(const FillerParameter& filler) {
  const Text type = filler.type;
  if (type == "constant" && std::isfinite(filler.value)) {
    return fmt::format(R"(["constant", {{"value": {}}}])", filler.value);
  }
  if (type == "uniform" && filler.min == -filler.max && filler.max > 0) {
    return fmt::format(R"(["uniform", {{"scale": {}}}])", filler.max);
  }
  if (type == "gaussian" && filler.mean == 0 && filler.sparse < 0) {
    return fmt::format(R"(["normal", {{"sigma": {}}}])", filler.std);
  }
  if (type == "xavier") return XavierText("uniform", filler.variance_norm, 3);
  if (type == "msra") return XavierText("gaussian", filler.variance_norm, 2);
  if (type == "bilinear") return R"(["bilinear", {}])";
  return "";
}

bool Layer::training() const { return importer_.training(); }
double Layer::Batch() const { return importer_.Batch(); }

Diagnostic Layer::Refused(const std::string& sentence) const {
  SourceLoc loc = protobuf::LocateIn(importer_.source(), param_);
  loc.path = name_;
  return Error(loc, "{} '{}': {}", param_.type, name_, sentence);
}

void Layer::RefuseWith(fmt::string_view format, fmt::format_args args) const {
  throw LayerRefused{Refused(fmt::vformat(format, args))};
}

void Layer::AddNote(Diagnostic note) { importer_.AddNote(std::move(note)); }

void Layer::Expect(int least_bottoms, int most_bottoms, int most_tops) {
  const auto within = [](int n, int least, int most) {
    return n >= least && (most < 0 || n <= most);
  };
  const auto number = [](int least, int most) {
    if (most < 0) return fmt::format("at least {}", least);
    if (least == most) return fmt::format("{}", least);
    return fmt::format("{} to {}", least, most);
  };
  if (!within(bottoms(), least_bottoms, most_bottoms)) {
    Fail("{} bottoms, expected {}", bottoms(),
         number(least_bottoms, most_bottoms));
  }
  if (!within(tops(), 0, most_tops)) {
    Fail("{} tops, expected {}", tops(), number(0, most_tops));
  }
}

void Layer::SetTop(int i, Value value) {
  // What a layer ends with bears its name.
  if (i == 0 && std::ranges::find(made_, value.node) != made_.end()) {
    importer_.Rename(*value.node, name_);
  }
  if (top_values_.size() <= static_cast<size_t>(i)) {
    top_values_.resize(static_cast<size_t>(i) + 1);
  }
  top_values_[static_cast<size_t>(i)] = value;
}

int Layer::RankOf(Value value) {
  if (!value.shape().known_rank()) {
    throw LayerRefused{
        Refused("the number of its bottom's axes must be known: give "
                "--input-shape"),
        /*unknown=*/true};
  }
  return value.shape().rank();
}

const Shape& Layer::ShapeOf(Value value) {
  if (!value.shape().known()) {
    throw LayerRefused{
        Refused(fmt::format(
            "the shape of its bottom must be known, it is {}: give "
            "--input-shape",
            value.shape().known_rank() ? ToString(value.shape()) : "unknown")),
        /*unknown=*/true};
  }
  return value.shape();
}

int64_t Layer::Extent(Value value, int axis) {
  if (!value.shape().known_rank() || axis >= value.shape().rank() ||
      !value.shape().known(axis)) {
    ShapeOf(value);
    Fail("its bottom has shape {}, which has no axis {}",
         ToString(value.shape()), axis);
  }
  return value.shape()[axis];
}

int Layer::Axis(int64_t axis, int rank, bool behind) {
  const int64_t counted = axis < 0 ? axis + rank : axis;
  if (counted < 0 || counted >= rank + (behind ? 1 : 0)) {
    Fail("axis {} of a bottom with {} axes", axis, rank);
  }
  return static_cast<int>(counted);
}

std::vector<Value> Layer::Ops(const Operator& op,
                              const std::vector<Value>& inputs,
                              std::vector<AttrText> attrs) {
  MXC_CHECK(!op.internal, "operator '{}'", op.name);
  if (op.variadic) {
    SetText("num_args", std::to_string(inputs.size()), attrs);
  }
  const SourceLoc loc = protobuf::LocateIn(importer_.source(), param_);
  std::vector<LocatedAttr> located;
  for (const auto& [name, text] : attrs) located.push_back({name, text, loc});
  Diagnostics wrong;
  const Instance instance{&op, op.name, name_, loc, inputs.size()};
  AttrsPtr parsed = ParseAttributes(instance, located, wrong);
  if (!wrong.empty()) Fail("{}", wrong[0].message);
  const auto specs = op.inputs(parsed.get());
  MXC_CHECK(specs.size() == inputs.size(), "{} of '{}'", op.name, name_);
  Node* node = importer_.AddNode(&op, fmt::format("{}/{}", name_, op.name),
                                 std::move(parsed), inputs);
  node->loc = loc;
  node->loc.path = name_;
  node->op_name = op.name;
  node->written.attributes = std::move(attrs);
  made_.push_back(node);
  if (const auto unfit = importer_.InferNode(*node)) Fail("{}", *unfit);
  std::vector<Value> outputs;
  const int visible = op.visible_outputs(node->attrs.get());
  for (int i = 0; i < visible; ++i) outputs.push_back(node->out(i));
  return outputs;
}

Value Layer::Reshape(Value x, const Extents& codes) {
  return Op<op::Reshape>({x}, {.shape = codes});
}

Value Layer::Slice(Value x, int axis, int64_t begin, int64_t end) {
  return Op<op::SliceAxis>({x}, {.axis = axis, .begin = begin, .end = end});
}

Value Layer::Concat(const std::vector<Value>& parts, int axis) {
  if (parts.size() == 1) return parts[0];
  return Op<op::Concat>(parts, {.dim = axis});
}

Value Layer::SumFrom(Value x, int axis) {
  const int rank = RankOf(x);
  if (axis >= rank) return x;
  Extents axes;
  for (int i = axis; i < rank; ++i) axes.push_back(i);
  return Op<op::Sum>({x}, {.axis = axes});
}

Node* Layer::NewParameter(std::string_view role, const Shape& shape) {
  const TensorType type{DType::kF32, shape};
  if (const auto unfit = Unfit(type)) Fail("its {} has {}", role, *unfit);
  Node* variable =
      importer_.AddVariable(fmt::format("{}_{}", name_, role), type);
  variable->loc = protobuf::LocateIn(importer_.source(), param_);
  variable->role = VariableRole::kParameter;
  // A symbol's reader does not see through what turns a parameter.
  if (shape.known()) AnnotateShape(*variable);
  return variable;
}

void Layer::Annotate(Node& variable, const ParamSpec& spec,
                     const One<FillerParameter>& filler,
                     std::string_view initial) {
  auto& notes = variable.written.annotations;
  if (spec.lr_mult != 1) notes["__lr_mult__"] = NumberText(spec.lr_mult);
  // MXNet lets biases and their like decay by nothing unless they say so.
  const bool decays = variable.name.ends_with("weight");
  if (spec.decay_mult != 1 || !decays) {
    notes["__wd_mult__"] = NumberText(spec.decay_mult);
  }
  std::string init(initial);
  if (filler != nullptr) {
    init = InitializerOf(*filler);
    if (init.empty()) {
      Note(
          "no initializer is Caffe's '{}' as it is set; '{}' begins as --init "
          "or its name says",
          filler->type, variable.name);
    }
  }
  if (!init.empty()) notes["__init__"] = init;
}

Value Layer::Parameter(int index, std::string_view role, const Shape& shape,
                       const One<FillerParameter>& filler,
                       std::string_view initial) {
  const auto i = static_cast<size_t>(index);
  const ParamSpec spec =
      i < param_.param.size() ? param_.param[i] : ParamSpec();
  if (!spec.name.empty()) {
    if (Node* shared = importer_.FindShared(spec.name)) {
      return importer_.Shared(*shared, spec, shape, *this);
    }
  }
  Node* variable = NewParameter(role, shape);
  Annotate(*variable, spec, filler, initial);
  if (!spec.name.empty()) importer_.Share(spec.name, *variable);
  return variable->out();
}

Value Layer::State(std::string_view role, const Shape& shape) {
  Node* variable = NewParameter(role, shape);
  variable->role = VariableRole::kState;
  return variable->out();
}

}  // namespace mxc::caffe
