// SPDX-License-Identifier: Apache-2.0
// What an operator's file is written with. The file ends with, or a table of
// operators has as one of its rows,
//
//   MXC_OP(Pooling) {
//     return Op<PoolingAttrs>("Pooling")
//         .Doc("reduces a window that slides over the spatial dimensions")
//         .Inputs({"data"}).Types(PoolingTypes).Meaning(PoolingMeaning);
//   }
//
// and ops.def holds MXC_OPERATOR(nn/pooling, Pooling).
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/branch_form.h"
#include "ir/graph/builder.h"
#include "ir/graph/call_form.h"
#include "ir/graph/counted_form.h"
#include "ir/graph/csr_form.h"
#include "ir/graph/graph.h"
#include "ir/graph/operator.h"
#include "ir/graph/row_form.h"
#include "ir/graph/scan_form.h"
#include "ir/ops/operators.h"
#include "ir/program/definition.h"
#include "ir/program/expr.h"
#include "ir/program/program.h"

namespace mxc {

// Shared by all attribute structs; see fields.h. With `any_attributes` names
// that `describe` lacks are no error (MXNet: operators without parameters).
AttrsPtr ParseAttrs(std::shared_ptr<void> attrs,
                    const std::function<void(Fields&)>& describe,
                    std::span<const AttrText> texts, bool any_attributes,
                    std::vector<AttrError>& errors);
std::vector<AttrText> PrintAttrs(const std::function<void(Fields&)>& describe);

// Fails where input 0 is known to be of integers.
void RequireFloats(TypeInference& t);
// Fails where input 0 is known to be of floats.
void RequireIntegers(TypeInference& t);

template <class A = NoAttrs>
class Op {
 public:
  explicit Op(std::string name) {
    op_.name = std::move(name);
    op_.attrs_type = typeid(A);
    op_.parse = [](std::span<const AttrText> texts,
                   std::vector<AttrError>& errors) -> AttrsPtr {
      auto attrs = std::make_shared<A>();
      return ParseAttrs(
          attrs, [&](Fields& f) { attrs->Describe(f); }, texts,
          std::is_same_v<A, NoAttrs>, errors);
    };
    op_.print = [](const void* attrs) {
      A copy = *static_cast<const A*>(attrs);
      return PrintAttrs([&](Fields& f) { copy.Describe(f); });
    };
    op_.describe = [](Fields& f) { A().Describe(f); };
    op_.inputs = [](const void*) {
      return std::vector<InputSpec>{{"data", InputKind::kData}};
    };
    op_.outputs = [](const void*) {
      return std::vector<std::string>{"output"};
    };
  }

  Op& Doc(std::string text) { return op_.doc = std::move(text), *this; }
  Op& Alias(std::vector<std::string> names) {
    return op_.aliases = std::move(names), *this;
  }
  // A fixed list of inputs, or a function of the attributes.
  Op& Inputs(std::vector<InputSpec> inputs) {
    op_.inputs = [inputs](const void*) { return inputs; };
    return *this;
  }
  template <class F>
  Op& InputsOf(F f) {  // std::vector<InputSpec>(const A&)
    op_.inputs = [f](const void* a) { return f(*static_cast<const A*>(a)); };
    return *this;
  }
  Op& Outputs(std::vector<std::string> names, int visible = -1) {
    const int count = visible < 0 ? static_cast<int>(names.size()) : visible;
    op_.outputs = [names](const void*) { return names; };
    op_.visible_outputs = [count](const void*) { return count; };
    return *this;
  }
  template <class F>
  Op& OutputsOf(F f) {  // std::vector<std::string>(const A&)
    op_.outputs = [f](const void* a) { return f(*static_cast<const A*>(a)); };
    return *this;
  }
  template <class F>
  Op& VisibleOutputsOf(F f) {  // int(const A&)
    op_.visible_outputs = [f](const void* a) {
      return f(*static_cast<const A*>(a));
    };
    return *this;
  }
  template <class F>
  Op& Check(F f) {  // std::optional<std::string>(const A&)
    op_.check = [f](const void* a) { return f(*static_cast<const A*>(a)); };
    return *this;
  }
  template <class F>
  Op& Types(F f) {  // void(const A&, TypeInference&)
    op_.types = [f](const void* a, TypeInference& t) {
      f(*static_cast<const A*>(a), t);
    };
    return *this;
  }
  // After Types. Input 0 has to be of floats, whose fractions the formula needs …
  Op& FloatsOnly() { return Require(RequireFloats); }
  // … or of integers (or truth values), whose bits it needs.
  Op& IntegersOnly() { return Require(RequireIntegers); }
  template <class F>
  Op& Meaning(F f) {  // void(const A&, Definition&)
    op_.meaning = [f](const void* a, Definition& def) {
      f(*static_cast<const A*>(a), def);
    };
    return *this;
  }
  template <class F>
  Op& Compute(F f) {  // std::vector<Tensor>(const A&, std::span<const Tensor>)
    op_.compute = [f](const void* a, std::span<const Tensor> inputs) {
      return f(*static_cast<const A*>(a), inputs);
    };
    return *this;
  }
  template <class F>
  Op& Procedure(F f) {  // void(const A&, ProcedureBuilder&)
    op_.procedure = [f](const void* a, ProcedureBuilder& p) {
      f(*static_cast<const A*>(a), p);
    };
    return *this;
  }
  template <class F>
  Op& AsStep(F f) {  // StepBody(const A&)
    op_.step = [f](const void* a) { return f(*static_cast<const A*>(a)); };
    return *this;
  }
  template <class F>
  Op& Decompose(
      F f) {  // std::vector<Value>(const A&, const Node&, GraphBuilder&)
    op_.decompose = [f](const void* a, const Node& node, GraphBuilder& b) {
      return f(*static_cast<const A*>(a), node, b);
    };
    return *this;
  }
  template <class F>
  Op& AsContraction(
      F f) {  // std::optional<Contraction>(const A&, const Definition&)
    op_.contraction = [f](const void* a, const Definition& def) {
      return f(*static_cast<const A*>(a), def);
    };
    return *this;
  }
  template <class F>
  Op& AsScan(F f) {  // ScanForm(const A&)
    op_.scan = [f](const void* a) { return f(*static_cast<const A*>(a)); };
    return *this;
  }
  template <class F>
  Op& AsBranch(F f) {  // BranchForm(const A&)
    op_.branch = [f](const void* a) { return f(*static_cast<const A*>(a)); };
    return *this;
  }
  template <class F>
  Op& AsCall(F f) {  // CallForm(const A&)
    op_.call = [f](const void* a) { return f(*static_cast<const A*>(a)); };
    return *this;
  }
  template <class F>
  Op& Gradient(F f) {  // std::vector<Value>(const A&, GradientBuilder&)
    op_.gradient = [f](const void* a, GradientBuilder& g) {
      return f(*static_cast<const A*>(a), g);
    };
    return *this;
  }
  // See GradientBuilder::Elementwise.
  Op& ElementwiseGradient() {
    op_.gradient = [](const void*, GradientBuilder& g) {
      return g.Elementwise();
    };
    return *this;
  }
  // The same for a function of one input, with its slope f'(x) given: because
  // MXNet's is another than calculus has it, or less exact …
  template <class F>
  Op& SlopeOfInput(F f) {  // Expr(const A&, Expr x)
    return Slope(f, false);
  }
  // … or as a function of y = f(x): backward then keeps the output, which
  // readers keep anyway, instead of the input.
  template <class F>
  Op& SlopeOfOutput(F f) {  // Expr(const A&, Expr y)
    return Slope(f, true);
  }
  // The gradient of every input is that of the output.
  Op& PassGradient() {
    op_.gradient = [](const void*, GradientBuilder& g) {
      return std::vector<Value>(g.inputs(), g.Head());
    };
    return *this;
  }
  // A gradient that is zero (round, comparisons, BlockGrad): nothing passes,
  // and nobody asks for more.
  Op& ZeroGradient() {
    op_.gradient = [](const void*, GradientBuilder& g) { return g.None(); };
    return *this;
  }
  template <class F>
  Op& Loss(F f) {  // Value(const A&, const Node&, GraphBuilder&)
    op_.loss = [f](const void* a, const Node& node, GraphBuilder& b) {
      return f(*static_cast<const A*>(a), node, b);
    };
    return *this;
  }
  template <class F>
  Op& Smoothed(F f) {  // AttrsPtr(const A&, const Node&, double alpha)
    op_.smoothed = [f](const void* a, const Node& node, double alpha) {
      return f(*static_cast<const A*>(a), node, alpha);
    };
    return *this;
  }
  template <class F>
  Op& ForcedInput(F f) {  // std::optional<double>(const A&, int input)
    op_.forced_input = [f](const void* a, int input) {
      return f(*static_cast<const A*>(a), input);
    };
    return *this;
  }
  template <class F>
  Op& SparseRows(F f) {  // int(const A&)
    op_.sparse_rows = [f](const void* a) {
      return f(*static_cast<const A*>(a));
    };
    return *this;
  }
  template <class F>
  Op& OfCsr(F f) {  // Value(const A&, const Node&, const CsrForm&, builder)
    op_.of_csr = [f](const void* a, const Node& node, const CsrForm& data,
                     GraphBuilder& b) {
      return f(*static_cast<const A*>(a), node, data, b);
    };
    return *this;
  }
  template <class F>
  Op& AsRows(F f) {  // RowForm(const A&, node, inputs' RowForms, builder)
    op_.row_form = [f](const void* a, const Node& node,
                       std::span<const RowForm> inputs, GraphBuilder& b) {
      return f(*static_cast<const A*>(a), node, inputs, b);
    };
    return *this;
  }
  Op& LengthByData(DataLength length) {
    op_.data_length = [length](const void*) { return length; };
    return *this;
  }
  template <class F>
  Op& LengthByDataOf(F f) {  // DataLength(const A&)
    op_.data_length = [f](const void* a) {
      return f(*static_cast<const A*>(a));
    };
    return *this;
  }
  template <class F>
  Op& Counted(F f) {  // CountedForm(const A&, node, axes, count, builder)
    op_.counted = [f](const void* a, const Node& node,
                      std::span<const int> axes, Value count, GraphBuilder& b) {
      return f(*static_cast<const A*>(a), node, axes, count, b);
    };
    return *this;
  }
  Op& NextStates(int count) {
    return NextStatesOf([count](const A&) { return count; });
  }
  template <class F>
  Op& NextStatesOf(F f) {  // int(const A&)
    op_.next_states = [f](const void* a) {
      return f(*static_cast<const A*>(a));
    };
    return *this;
  }
  Op& Amends() { return op_.amends = true, *this; }
  Op& Variadic() { return op_.variadic = true, *this; }
  Op& View() { return op_.view = true, *this; }
  template <class F>
  Op& RandomIf(F f) {  // bool(const A&, bool training)
    op_.random = [f](const void* a, bool training) {
      return f(*static_cast<const A*>(a), training);
    };
    return *this;
  }
  Op& Internal() { return op_.internal = true, *this; }
  Op& MultipliesIntegers() { return op_.multiplies_integers = true, *this; }
  Op& LossHead() {
    return LossHeadIf([](const A&) { return true; });
  }
  template <class F>
  Op& LossHeadIf(F f) {  // bool(const A&)
    op_.loss_head = [f](const void* a) { return f(*static_cast<const A*>(a)); };
    return *this;
  }

  operator Operator() && { return std::move(op_); }
  operator Operator() & { return op_; }

 private:
  Op& Require(void (*require)(TypeInference& t)) {
    op_.types = [types = op_.types, require](const void* a, TypeInference& t) {
      types(a, t);
      require(t);
    };
    return *this;
  }
  template <class F>
  Op& Slope(F f, bool of_output) {
    op_.slope = [f](const void* a, const Expr& at) {
      return f(*static_cast<const A*>(a), at);
    };
    op_.slope_of_output = of_output;
    return ElementwiseGradient();
  }

  Operator op_;
};

}  // namespace mxc

#define MXC_OP(Id) ::mxc::Operator Define##Id()
