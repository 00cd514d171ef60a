// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "ir/graph/constraint.h"
#include "ir/graph/graph.h"
#include "ir/support/words.h"

namespace mxc {

void TypeInference::Merge(TensorType& type, const Shape& shape,
                          std::string_view what, int index) {
  if (!shape.known_rank()) return;
  Shape& stored = type.shape;
  if (!stored.known_rank()) {
    stored = shape;
    changed_ = true;
    return;
  }
  if (stored.rank() != shape.rank()) {
    Fail("{} {} has shape {}, expected {}", what, index, ToString(stored),
         ToString(shape));
    return;
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!shape.known(axis) || stored[axis] == shape[axis]) continue;
    if (stored.known(axis)) {
      Fail("{} {} has shape {}, expected {}", what, index, ToString(stored),
           ToString(shape));
      return;
    }
    stored[axis] = shape[axis];
    changed_ = true;
  }
}

void TypeInference::SetIn(int i, const Shape& shape) {
  Merge(inputs_[i], shape, "input", i);
}
void TypeInference::SetOut(int i, const Shape& shape) {
  Merge(outputs_[i], shape, "output", i);
}

namespace {

// True when the stored type is refined; a contradiction keeps the stored one.
bool MergeDType(TensorType& type, DType dtype) {
  if (dtype == DType::kUnknown || type.dtype != DType::kUnknown) return false;
  type.dtype = dtype;
  return true;
}

}  // namespace

void TypeInference::SetInDType(int i, DType dtype) {
  if (MergeDType(inputs_[i], dtype)) {
    changed_ = true;
  } else if (dtype != DType::kUnknown && inputs_[i].dtype != dtype) {
    Fail("input {} has type {}, expected {}", i, ShortName(inputs_[i].dtype),
         ShortName(dtype));
  }
}

void TypeInference::SetOutDType(int i, DType dtype) {
  if (MergeDType(outputs_[i], dtype)) {
    changed_ = true;
  } else if (dtype != DType::kUnknown && outputs_[i].dtype != dtype) {
    Fail("output {} has type {}, expected {}", i, ShortName(outputs_[i].dtype),
         ShortName(dtype));
  }
}

void TypeInference::AllSameShape() {
  for (int pass = 0; pass < 2 && !error_; ++pass) {
    Shape known;
    for (const auto list : {inputs_, outputs_}) {
      for (const TensorType& type : list) {
        if (!type.shape.known_rank()) continue;
        if (!known.known_rank()) known = type.shape;
        if (known.rank() != type.shape.rank()) continue;
        for (int axis = 0; axis < known.rank(); ++axis) {
          if (!known.known(axis)) known[axis] = type.shape[axis];
        }
      }
    }
    for (int i = 0; i < inputs(); ++i) SetIn(i, known);
    for (int i = 0; i < outputs(); ++i) SetOut(i, known);
  }
}

void TypeInference::AllSameDType() {
  DType known = DType::kUnknown;
  for (const auto list : {inputs_, outputs_}) {
    for (const TensorType& type : list) {
      if (known == DType::kUnknown) known = type.dtype;
    }
  }
  for (int i = 0; i < inputs(); ++i) SetInDType(i, known);
  for (int i = 0; i < outputs(); ++i) SetOutDType(i, known);
}

namespace {

constexpr int kMaxSweeps = 64;

class Inference {
 public:
  Inference(Graph& graph, bool complete)
      : graph_(graph), complete_(complete), order_(graph.TopologicalOrder()) {}

  Status Run() {
    CheckTypes();
    Settle();
    // MXNet binds what is still unknown as float32.
    if (errors_.empty() && complete_) {
      for (Node* node : order_) {
        if (node->kind != Node::Kind::kVariable) continue;
        if (node->types[0].dtype == DType::kUnknown) {
          node->types[0].dtype = DType::kF32;
        }
      }
      Settle();
      for (Node* node : order_) {
        for (TensorType& type : node->types) {
          if (type.dtype == DType::kUnknown) type.dtype = DType::kF32;
        }
      }
      Settle();
      CheckTypes();  // again: what is float32 now may have too many bytes
      if (errors_.empty()) ReportUnknown();
      if (errors_.empty()) ReportViews();
    }
    if (!errors_.empty()) return std::move(errors_);
    return Done{};
  }

 private:
  void Settle() {
    bool changed = true;
    for (int sweep = 0; changed && errors_.empty() && sweep < kMaxSweeps;
         ++sweep) {
      changed = false;
      for (Node* node : order_) changed |= Visit(node);
      for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
        changed |= Visit(*it);
      }
    }
  }

  // What a file or the command line gives. Whatever else has a type has it from
  // a type function, after which it is checked, so that these meet no extent or
  // product that their arithmetic cannot bear.
  void CheckTypes() {
    for (const Node* node : order_) {
      for (const TensorType& type : node->types) {
        const auto unfit = Unfit(type);
        if (!unfit) continue;
        errors_.push_back(Error(node->loc, "'{}' has {}", node->name, *unfit));
        break;
      }
    }
  }

  bool Visit(Node* node) {
    if (node->kind != Node::Kind::kOperator || !node->op->types) return false;
    if (failed_.contains(node)) return false;
    std::vector<TensorType> inputs;
    for (const Value& input : node->inputs) {
      if (Unfit(input.type())) return false;  // was reported
      inputs.push_back(input.type());
    }
    TypeInference inference(inputs, node->types, graph_.training);
    node->op->types(node->attrs.get(), inference);
    auto error =
        inference.error() ? inference.error() : FirstUnfit(inputs, node->types);
    if (!error) error = TooManyDraws(*node);
    if (error) {
      Report(node, *error);
      return false;
    }
    bool changed = inference.changed();
    if (changed) changed = Store(node, inputs);
    return changed;
  }

  // The counter of random numbers has 32 bits (ir/program/philox.h).
  std::optional<std::string> TooManyDraws(const Node& node) const {
    constexpr int64_t kDraws = int64_t{1} << 32;
    const Operator& op = *node.op;
    if (!op.random || !op.random(node.attrs.get(), graph_.training)) {
      return std::nullopt;
    }
    for (const TensorType& type : node.types) {
      if (!type.shape.known() || type.shape.elements() < kDraws) continue;
      return fmt::format("shape {} has 2^32 elements or more to be drawn",
                         ToString(type.shape));
    }
    return std::nullopt;
  }

  static std::optional<std::string> FirstUnfit(
      const std::vector<TensorType>& inputs,
      const std::vector<TensorType>& outputs) {
    for (const auto& [list, what] :
         {std::pair(&inputs, "input"), std::pair(&outputs, "output")}) {
      for (size_t i = 0; i < list->size(); ++i) {
        if (const auto unfit = Unfit((*list)[i])) {
          return fmt::format("{} {} has {}", what, i, *unfit);
        }
      }
    }
    return std::nullopt;
  }

  // One variable may be several inputs of a node, so what was inferred for
  // each is merged rather than assigned.
  bool Store(Node* node, const std::vector<TensorType>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value& from = node->inputs[i];
      TensorType& stored = from.node->types[from.index];
      std::vector<TensorType> one = {stored};
      TypeInference merge(one, {}, graph_.training);
      merge.SetIn(0, inputs[i].shape);
      merge.SetInDType(0, inputs[i].dtype);
      if (merge.error()) {
        Report(node, *merge.error());
        return false;
      }
      stored = one[0];
    }
    return true;
  }

  void Report(Node* node, const std::string& error_text) {
    const auto [constraint, message] = ReadViolation(error_text);
    failed_.insert(node);
    Diagnostic error = Error(Culprit(*node, message), "{} '{}': {}",
                             node->op_name, node->name, message);
    error.notes = InputNotes(*node, message.find(" has type ") != message.npos);
    error.constraint = constraint;
    errors_.push_back(std::move(error));
  }

  // What is known of the node's inputs, their types or else their shapes.
  static std::vector<std::string> InputNotes(const Node& node, bool types) {
    std::vector<std::string> notes;
    for (const Value& input : node.inputs) {
      const TensorType& type = input.type();
      if (types && type.dtype != DType::kUnknown) {
        notes.push_back(fmt::format("'{}' has type {}", input.node->name,
                                    ShortName(type.dtype)));
      } else if (!types && type.shape.known_rank()) {
        notes.push_back(fmt::format("'{}' has shape {}", input.node->name,
                                    ToString(type.shape)));
      }
    }
    return notes;
  }

  // The place of the attribute that the message names first.
  static SourceLoc Culprit(const Node& node, const std::string& message) {
    SourceLoc loc = node.loc;
    size_t first = message.size();
    for (const auto& [name, attr_loc] : node.attr_locs) {
      const size_t at = FindWord(message, name);
      if (at < first) first = at, loc = attr_loc;
    }
    return loc;
  }

  // Inputs that something but a loss head's label reads.
  std::set<const Node*> InputsRead() const {
    std::set<const Node*> read;  // looked up only, never iterated
    for (const Node* node : order_) {
      std::vector<InputSpec> specs;
      if (node->kind == Node::Kind::kOperator) {
        specs = node->op->inputs(node->attrs.get());
      }
      for (size_t i = 0; i < node->inputs.size(); ++i) {
        const bool label =
            i < specs.size() && specs[i].kind == InputKind::kLabel;
        if (!label) read.insert(node->inputs[i].node);
      }
    }
    return read;
  }

  // The shapes of labels, parameters and states follow once those of the
  // inputs are known, so these are asked for first.
  void ReportUnknown() {
    std::vector<Node*> unknown, inputs;
    for (Node* node : order_) {
      if (node->kind != Node::Kind::kVariable || node->types[0].shape.known()) {
        continue;
      }
      unknown.push_back(node);
    }
    if (!unknown.empty()) {
      const std::set<const Node*> read = InputsRead();
      std::ranges::copy_if(
          unknown, std::back_inserter(inputs), [&](const Node* node) {
            return node->role == VariableRole::kInput && read.contains(node);
          });
    }
    for (const Node* node : inputs.empty() ? unknown : inputs) {
      errors_.push_back(
          Error(node->loc,
                "the shape of '{}' is unknown: {}, give it as an input "
                "shape",
                node->name, ToString(node->types[0].shape)));
    }
    if (!errors_.empty()) return;
    for (Node* node : order_) {
      if (node->kind == Node::Kind::kOpaque) continue;
      for (const TensorType& type : node->types) {
        if (type.shape.known()) continue;
        errors_.push_back(Error(node->loc,
                                "the shape of {} '{}' does not follow from its "
                                "inputs: {}",
                                node->op_name, node->name,
                                ToString(type.shape)));
        break;
      }
      if (!errors_.empty()) return;  // the rest follows from the first
    }
  }

  // MXNet leaves this to the run: a view shares the elements of its input.
  void ReportViews() {
    for (Node* node : order_) {
      if (node->kind != Node::Kind::kOperator || !node->op->view) continue;
      const Shape& in = node->inputs[0].shape();
      const Shape& out = node->types[0].shape;
      if (CheckedProduct(in.dims()) == CheckedProduct(out.dims())) continue;
      Report(node, fmt::format("shape {} has other elements than the input {}",
                               ToString(out), ToString(in)));
    }
  }

  Graph& graph_;
  bool complete_;
  std::vector<Node*> order_;
  std::set<const Node*> failed_;  // looked up only, never iterated
  Diagnostics errors_;
};

}  // namespace

Status InferTypes(Graph& graph, bool complete) {
  return Inference(graph, complete).Run();
}

}  // namespace mxc
