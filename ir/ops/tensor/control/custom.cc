// SPDX-License-Identifier: Apache-2.0
// Custom: an operator of the user's library, `op_type`; runtime/mxc_operators.h,
// mxc_operator, says how it is written. Attributes other than op_type are the
// library's.
//   arguments    as the library names them; one that is named …label is a label,
//                which loss heads see as zeros where nothing is trained
//   states       auxiliary states
//   outputs      as the library names them; then the next states, hidden
// It is two functions that the artifact imports (user_call.cc): forward, whose
// attributes begin with the line is_train=1 or is_train=0, and backward.
// As MakeLoss, a loss head reports the mean of its first output.
// C1  no attribute has a line break
// C2  the library takes the types of the arguments
// C3  it has an output, and at most 65536 operands
// Source: MXNet 1.9.1 operator/custom/custom.cc, python/mxnet/operator.py.
#include <fmt/format.h>

#include <algorithm>

#include "ir/graph/library_operator.h"
#include "ir/ops/nn/loss/loss.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/control/user_call.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct CustomAttrs {
  std::string op_type;
  std::vector<AttrText> rest;
  std::string lines;  // `rest`, as the library reads it
  LibraryOperator op;

  void Describe(Fields& f) {
    f("op_type", op_type).Required().Doc("the operator, as it is registered");
  }
};

bool IsOperatorAttr(const AttrText& attr) {
  return attr.first != "op_type" && !attr.first.starts_with("__");
}

std::vector<AttrText> RestOf(std::span<const AttrText> texts) {
  std::vector<AttrText> rest;
  std::ranges::copy_if(texts, std::back_inserter(rest), IsOperatorAttr);
  return rest;
}

std::optional<LibraryOperator> FindCustom(std::string_view op_type,
                                          std::span<const AttrText> texts) {
  return TheLibraryOperators().Find(std::string(op_type),
                                    PrintAttrLines(RestOf(texts)));
}

std::optional<std::string> WhyUnknown(std::span<const AttrText> texts) {
  const auto type = std::ranges::find(texts, "op_type", &AttrText::first);
  if (type == texts.end() || FindCustom(type->second, texts)) {
    return std::nullopt;
  }
  return fmt::format(
      "no library that is loaded has an operator '{}'; --functions loads the "
      "one that has it",
      type->second);
}

AttrsPtr ParseCustom(std::span<const AttrText> texts,
                     std::vector<AttrError>& errors) {
  auto attrs = std::make_shared<CustomAttrs>();
  ParseAttrs(
      attrs, [&](Fields& f) { attrs->Describe(f); }, texts, true, errors);
  attrs->rest = RestOf(texts);
  attrs->lines = PrintAttrLines(attrs->rest);
  attrs->op = FindCustom(attrs->op_type, texts).value_or(LibraryOperator());
  return attrs;
}

std::vector<AttrText> PrintCustom(const void* attrs) {
  const auto& a = *static_cast<const CustomAttrs*>(attrs);
  std::vector<AttrText> texts = {{"op_type", a.op_type}};
  texts.insert(texts.end(), a.rest.begin(), a.rest.end());
  return texts;
}

std::optional<std::string> CheckCustom(const CustomAttrs& a) {
  for (const auto& [name, text] : a.rest) {
    if (text.find('\n') == std::string::npos) continue;
    return fmt::format(
        "C1: {} has a line break, which attributes of a "
        "library's operator may not have",
        name);
  }
  const LibraryOperator& op = a.op;
  const size_t operands =
      op.arguments.size() + op.outputs.size() + op.states.size();
  if (op.outputs.empty() || operands > kMaxOperands) {
    return fmt::format(
        "C3: op_type '{}' has {} outputs and {} operands; expected at least 1 "
        "and at most {}",
        a.op_type, op.outputs.size(), operands, kMaxOperands);
  }
  return std::nullopt;
}

InputKind KindOfArgument(std::string_view name) {
  if (name.ends_with("label")) return InputKind::kLabel;
  for (const char* parameter : {"weight", "bias", "gamma", "beta"}) {
    if (name.ends_with(parameter)) return InputKind::kParameter;
  }
  return InputKind::kData;
}

std::vector<InputSpec> CustomInputs(const CustomAttrs& a) {
  std::vector<InputSpec> inputs;
  for (const std::string& name : a.op.arguments) {
    inputs.push_back({name, KindOfArgument(name)});
  }
  for (const std::string& name : a.op.states) {
    inputs.push_back({name, InputKind::kState});
  }
  return inputs;
}

std::vector<std::string> CustomOutputs(const CustomAttrs& a) {
  std::vector<std::string> names = a.op.outputs;
  for (const std::string& name : a.op.states) names.push_back("next_" + name);
  return names;
}

void CustomTypes(const CustomAttrs& a, TypeInference& t) {
  const int arguments = static_cast<int>(a.op.arguments.size());
  const int outputs = static_cast<int>(a.op.outputs.size());
  const int states = static_cast<int>(a.op.states.size());
  for (int i = 0; i < states; ++i) {
    t.SetOut(outputs + i, t.In(arguments + i));
    t.SetOutDType(outputs + i, t.InDType(arguments + i));
  }
  if (arguments > 0 && !t.In(0).known()) return;
  std::vector<TensorType> types;
  for (int i = 0; i < arguments; ++i) types.push_back({t.InDType(i), t.In(i)});
  types.resize(arguments + outputs);
  for (int i = 0; i < states; ++i) {
    types.push_back({t.InDType(arguments + i), t.In(arguments + i)});
  }
  const auto refused = TheLibraryOperators().Infer(a.op_type, a.lines, types);
  if (!t.Require(!refused, "C2: op_type '{}' refuses its arguments: {}",
                 a.op_type, refused.value_or(""))) {
    return;
  }
  for (int i = 0; i < arguments + outputs + states; ++i) {
    const TensorType& type = types[i];
    if (i < arguments || i >= arguments + outputs) {
      const int input = i < arguments ? i : i - outputs;
      t.SetIn(input, type.shape);
      t.SetInDType(input, type.dtype);
    }
    if (i >= arguments) {
      t.SetOut(i - arguments, type.shape);
      t.SetOutDType(i - arguments, type.dtype);
    }
  }
}

std::vector<Value> CallCustom(const CustomAttrs& a, const std::string& function,
                              bool training, std::vector<Value> inputs,
                              std::span<const TensorType> outputs,
                              GraphBuilder& b) {
  std::vector<Shape> shapes;
  std::string dtypes;
  for (const TensorType& type : outputs) {
    shapes.push_back(type.shape);
    dtypes += (dtypes.empty() ? "" : ",") + std::string(MxnetName(type.dtype));
  }
  UserCallAttrs attrs = {
      .num_args = std::ssize(inputs),
      .version = a.op.version,
      .function = function,
      .attributes = fmt::format("is_train={:d}\n{}", training, a.lines),
      .shapes = PrintShapes(shapes),
      .dtypes = dtypes};
  return b.Ops<op::UserCall>(std::move(inputs), std::move(attrs), function);
}

std::vector<Value> CustomParts(const CustomAttrs& a, const Node& node,
                               GraphBuilder& b) {
  std::vector<Value> inputs = node.inputs;
  const std::vector<InputSpec> specs = CustomInputs(a);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool label = specs[i].kind == InputKind::kLabel;
    if (a.op.loss_head && label && !b.training()) {
      inputs[i] = b.Zeros(inputs[i].type());
    }
  }
  return CallCustom(a, a.op.forward, b.training(), std::move(inputs),
                    node.types, b);
}

std::vector<Value> CustomGradient(const CustomAttrs& a, GradientBuilder& g) {
  if (a.op.backward.empty()) return g.None();
  const int arguments = static_cast<int>(a.op.arguments.size());
  const int outputs = static_cast<int>(a.op.outputs.size());
  std::vector<Value> inputs;
  std::vector<TensorType> types;
  for (int i = 0; i < outputs; ++i) inputs.push_back(g.Head(i));
  for (int i = 0; i < arguments; ++i) {
    inputs.push_back(g.In(i));
    types.push_back(g.In(i).type());
  }
  for (int i = 0; i < g.outputs(); ++i) inputs.push_back(g.Out(i));
  std::vector<Value> gradients =
      CallCustom(a, a.op.backward, true, std::move(inputs), types, g);
  gradients.resize(g.inputs());  // none of the states
  for (int i = 0; i < arguments; ++i) {
    if (!IsFloat(types[i].dtype)) gradients[i] = {};
  }
  return gradients;
}

}  // namespace

MXC_OP(Custom) {
  Operator op =
      Op<CustomAttrs>("Custom")
          .Doc("an operator of your library")
          .InputsOf(CustomInputs)
          .OutputsOf(CustomOutputs)
          .VisibleOutputsOf([](const CustomAttrs& a) {
            return static_cast<int>(a.op.outputs.size());
          })
          .NextStatesOf([](const CustomAttrs& a) {
            return static_cast<int>(a.op.states.size());
          })
          .Check(CheckCustom)
          .Types(CustomTypes)
          .Decompose(CustomParts)
          .LossHeadIf([](const CustomAttrs& a) { return a.op.loss_head; })
          .Loss([](const CustomAttrs&, const Node& node, GraphBuilder& b) {
            return MeanLoss(b, OutputOf(node));
          })
          .Gradient(CustomGradient);
  op.parse = ParseCustom;
  op.print = PrintCustom;
  op.unknown = WhyUnknown;
  op.any_attributes = true;
  return op;
}

}  // namespace mxc
