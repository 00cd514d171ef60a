// SPDX-License-Identifier: Apache-2.0
// What the rules of layers are written with: one layer's bottoms and settings,
// and the operators, parameters and tops that become of it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/attributes.h"
#include "frontend/caffe/schema.h"
#include "ir/graph/graph.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc::caffe {

class Importer;

// Thrown by Layer::Fail, caught where the importer calls a rule: it leaves this
// folder never.
struct LayerRefused {
  Diagnostic error;
  bool unknown = false;  // for want of a bottom's shape
};

class Layer {
 public:
  Layer(Importer& importer, const LayerParameter& param, std::string name)
      : importer_(importer), param_(param), name_(std::move(name)) {}

  const LayerParameter& param() const { return param_; }
  bool training() const;
  double Batch() const;  // of the network's inputs; 1 where it is not known

  // --- bottoms and tops
  int bottoms() const { return static_cast<int>(param_.bottom.size()); }
  int tops() const { return static_cast<int>(param_.top.size()); }
  // Refuses other numbers of them; -1: any.
  void Expect(int least_bottoms, int most_bottoms, int most_tops = 1);
  Value Bottom(int i = 0) const { return bottoms_.at(static_cast<size_t>(i)); }
  void SetTop(int i, Value value);

  // What must be known of a value's shape; refused where it is not.
  int RankOf(Value value);
  const Shape& ShapeOf(Value value);
  int64_t Extent(Value value, int axis);
  // Counted from the end where it is negative; `rank` is one too, where it may
  // stand behind the last one.
  int Axis(int64_t axis, int rank, bool behind = false);

  // --- nodes
  // Of the operator `Id` (ir/ops/operators.h). What a prototxt says reaches the
  // attributes: illegal ones are refused.
  template <class Id>
  std::vector<Value> Ops(const std::vector<Value>& inputs) {
    return Ops(OperatorOf<Id>(), inputs, {});
  }
  template <class Id>
  std::vector<Value> Ops(const std::vector<Value>& inputs,
                         const typename AttrsOf<Id>::type& attrs) {
    const Operator& op = OperatorOf<Id>();
    return Ops(op, inputs, StatedAttrs(op, &attrs));
  }
  template <class Id>
  Value Op(const std::vector<Value>& inputs) {
    return Ops<Id>(inputs)[0];
  }
  template <class Id>
  Value Op(const std::vector<Value>& inputs,
           const typename AttrsOf<Id>::type& attrs) {
    return Ops<Id>(inputs, attrs)[0];
  }
  // Of a tensor and a number.
  template <class Id>
  Value Scalar(Value x, double scalar) {
    return Op<Id>({x}, {.scalar = scalar});
  }
  // Of MXNet's codes: 0 keeps an extent, -1 is what is left.
  Value Reshape(Value x, const Extents& codes);
  Value Slice(Value x, int axis, int64_t begin, int64_t end);
  Value Concat(const std::vector<Value>& parts, int axis);
  // Without all axes but those before `axis` ("SUM" over the rest).
  Value SumFrom(Value x, int axis);

  // The parameter of blob `index`: that of another layer, where both have named
  // it alike, or a new one NAME_`role`. A filler that is not there leaves the
  // beginning to `initial`, and where that is empty to the name.
  Value Parameter(int index, std::string_view role, const Shape& shape,
                  const One<FillerParameter>& filler,
                  std::string_view initial = "");
  // What runs that train move by themselves.
  Value State(std::string_view role, const Shape& shape);

  template <class... Args>
  [[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
    RefuseWith(format, fmt::make_format_args(args...));
  }
  template <class... Args>
  void Note(fmt::format_string<Args...> format, Args&&... args) {
    AddNote(Refused(fmt::format(format, std::forward<Args>(args)...)));
  }

  // --- for the importer
  void SetBottoms(std::vector<Value> bottoms) { bottoms_ = std::move(bottoms); }
  const std::string& name() const { return name_; }
  const std::vector<Value>& top_values() const { return top_values_; }

 private:
  std::vector<Value> Ops(const Operator& op, const std::vector<Value>& inputs,
                         std::vector<AttrText> attrs);
  [[noreturn]] void RefuseWith(fmt::string_view format,
                               fmt::format_args args) const;
  Diagnostic Refused(const std::string& sentence) const;
  void AddNote(Diagnostic note);
  Node* NewParameter(std::string_view role, const Shape& shape);
  void Annotate(Node& variable, const ParamSpec& spec,
                const One<FillerParameter>& filler, std::string_view initial);

  Importer& importer_;
  const LayerParameter& param_;
  const std::string name_;
  std::vector<Value> bottoms_, top_values_;
  std::vector<Node*> made_;
};

// MXNet's text of how a parameter begins; empty: no filler of ours is it.
std::string InitializerOf(const FillerParameter& filler);

}  // namespace mxc::caffe
