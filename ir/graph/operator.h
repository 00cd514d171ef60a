// SPDX-License-Identifier: Apache-2.0
// An operator is its schema and its rules: a file in ir/ops, or a row of a
// table there, and a line in ops.def; nothing else in the project names it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "ir/graph/fields.h"
#include "ir/graph/tensor.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace mxc {

// ir/program/procedure_builder.h: the meaning as statements.
class ProcedureBuilder;
class Expr;             // ir/program/expr.h
class Definition;       // ir/program/definition.h: the meaning in kernel IR
class GraphBuilder;     // ir/graph/builder.h: the meaning as smaller operators
class GradientBuilder;  // ir/graph/builder.h: the gradient as operators
class Node;
struct Value;
struct Contraction;  // ir/program/program.h: the descriptor of a fast kernel
struct CallForm;     // ir/graph/call_form.h: the meaning as a function called
struct ScanForm;     // ir/graph/scan_form.h: the meaning as a scan
struct BranchForm;   // ir/graph/branch_form.h: the meaning as one of two graphs
struct CsrForm;      // ir/graph/csr_form.h: a matrix with few elements
struct RowForm;      // ir/graph/row_form.h: a gradient as sums at some rows
struct CountedForm;  // ir/graph/counted_form.h: the entries that count alone
class StepBody;      // ir/program/step.h: the meaning as a step of any kind

// The attributes of one node, of the type its operator declares; immutable.
using AttrsPtr = std::shared_ptr<const void>;

// The attribute struct of an operator without attributes.
struct NoAttrs {
  void Describe(Fields&) {}
};

// The types of a node's inputs and outputs while they are being inferred. A
// type function looks at what is known and states what follows from it, in
// both directions; it is called again until nothing new follows, so it must
// bear unknown ranks, dimensions and element types.
class TypeInference {
 public:
  TypeInference(std::span<TensorType> inputs, std::span<TensorType> outputs,
                bool training)
      : inputs_(inputs), outputs_(outputs), training_(training) {}

  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& In(int i) const { return inputs_[i].shape; }
  const Shape& Out(int i) const { return outputs_[i].shape; }
  DType InDType(int i) const { return inputs_[i].dtype; }
  DType OutDType(int i) const { return outputs_[i].dtype; }
  bool training() const { return training_; }

  // Merges `shape` into what is known; a contradiction is reported as
  // "<what> has shape (…), expected (…)".
  void SetIn(int i, const Shape& shape);
  void SetOut(int i, const Shape& shape);
  void SetInDType(int i, DType dtype);
  void SetOutDType(int i, DType dtype);
  // All inputs and outputs have one shape, one element type.
  void AllSameShape();
  void AllSameDType();

  // Reports a violated constraint: t.Fail("C3: kernel {} exceeds …", …).
  template <class... Args>
  void Fail(fmt::format_string<Args...> format, Args&&... args) {
    if (!error_) error_ = fmt::format(format, std::forward<Args>(args)...);
  }
  // Like Fail, when `holds` is false. Returns `holds`.
  template <class... Args>
  bool Require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    if (!holds) Fail(format, std::forward<Args>(args)...);
    return holds;
  }

  bool changed() const { return changed_; }
  const std::optional<std::string>& error() const { return error_; }

 private:
  void Merge(TensorType& type, const Shape& shape, std::string_view what,
             int index);

  std::span<TensorType> inputs_, outputs_;
  bool training_;
  bool changed_ = false;
  std::optional<std::string> error_;
};

// What becomes of an input: `kState` inputs (auxiliary states) are read, and
// their next value is one of the outputs.
enum class InputKind { kData, kParameter, kLabel, kState };

struct InputSpec {
  std::string name;
  InputKind kind = InputKind::kData;
};

// Values decide how long an axis of some outputs is: it has its greatest
// extent, and the first entries count, as many as another output says.
struct DataLength {
  int count = 0;  // the output that says it, i32[1]
  // Of each output from the first on: the axis; -1, or too few: none.
  std::vector<int> axes = {};
  std::vector<int> by = {};  // the inputs that decide it
};

// The default initializer of a variable created for an input, MXNet's text:
// ["zero", {}]. Empty: by the rules on names (mx.init.Initializer).
using InitText = std::string;

struct Operator {
  std::string name;
  std::vector<std::string> aliases;
  std::string doc;  // first line: one sentence
  std::type_index attrs_type = typeid(NoAttrs);

  // --- schema -------------------------------------------------------------
  // Fails with one entry for every unknown, missing or illegal attribute.
  std::function<AttrsPtr(std::span<const AttrText>, std::vector<AttrError>&)>
      parse;
  // All attributes with their values, in the order of Describe.
  std::function<std::vector<AttrText>(const void* attrs)> print;
  // Visits the fields of a default-constructed attribute struct.
  std::function<void(Fields&)> describe;
  // Constraints among the attributes alone, labelled C1, C2, …; may be empty.
  std::function<std::optional<std::string>(const void* attrs)> check;

  // The inputs, which may depend on the attributes (no_bias, num_args).
  std::function<std::vector<InputSpec>(const void* attrs)> inputs;
  // The output names; the first `visible_outputs` can be read by other nodes.
  std::function<std::vector<std::string>(const void* attrs)> outputs;
  std::function<int(const void* attrs)> visible_outputs;
  // Accepts any number of inputs; num_args then is the number given.
  bool variadic = false;
  // Accepts attributes that the schema does not name (Custom).
  bool any_attributes = false;
  // Why nobody knows what a node of these attributes is; it then is one of an
  // unknown operator. Null where it is known. May be empty.
  std::function<std::optional<std::string>(std::span<const AttrText>)> unknown;

  // --- rules --------------------------------------------------------------
  std::function<void(const void* attrs, TypeInference&)> types;
  // `meaning`, `procedure`, `step`, `scan`, `branch`, `call` or `decompose` is set
  // for an operator that can be compiled; none for one that is only recognised. A
  // decomposition that returns no values leaves this node to one of the others.
  std::function<void(const void* attrs, Definition&)> meaning;
  // Instead of a meaning: what no tensor expression says, as statements.
  std::function<void(const void* attrs, ProcedureBuilder&)> procedure;
  // The procedure writes some elements of its output, which begins as the last
  // input (ir/program/steps/amend.h).
  bool amends = false;
  // Instead of a meaning: a step whose operands are the inputs and outputs.
  std::function<StepBody(const void* attrs)> step;
  std::function<std::vector<Value>(const void* attrs, const Node& node,
                                   GraphBuilder&)>
      decompose;
  // Besides `meaning`: the one output, input 0 being a matrix of this form; empty
  // where it has to be written out. May be empty.
  std::function<Value(const void* attrs, const Node& node, const CsrForm& data,
                      GraphBuilder&)>
      of_csr;
  // Besides `meaning`: the same outputs of constants, bit for bit, without the
  // interpreter's time, for what networks do to large weights.
  std::function<std::vector<Tensor>(const void* attrs,
                                    std::span<const Tensor> inputs)>
      compute;
  // In place of `meaning`: a graph that runs turn after turn.
  std::function<ScanForm(const void* attrs)> scan;
  // In place of `meaning`: one of two graphs, by a condition.
  std::function<BranchForm(const void* attrs)> branch;
  // In place of `meaning`: a function that the artifact imports.
  std::function<CallForm(const void* attrs)> call;
  // Besides `meaning`: the descriptor by which a fast kernel is chosen.
  // Operands 0 and 1 are data and weight, 2 (if any) a bias over the output
  // channels. nullopt: this instance has none.
  std::function<std::optional<Contraction>(const void* attrs,
                                           const Definition&)>
      contraction;

  // --- training -----------------------------------------------------------
  // The gradient of each input as a composition of operators, from the
  // gradients of the outputs; an empty Value where there is none. Not set: that
  // of the decomposition, or else no gradient passes. Loss heads are asked even where no head gradient arrives.
  std::function<std::vector<Value>(const void* attrs, GradientBuilder&)>
      gradient;
  // Of an elementwise operator with one input and one output: f'(x), where it is
  // not left to symbolic differentiation; as a function of x, or of y = f(x).
  std::function<Expr(const void* attrs, const Expr& at)> slope;
  bool slope_of_output = false;
  // What `train` reports for a loss head, f32[1]: the mean over the batch.
  std::function<Value(const void* attrs, const Node& node, GraphBuilder&)> loss;
  // Of a loss head: the attributes with which it smooths its labels by alpha (0:
  // not at all); null where it cannot, the types being known. May be empty.
  std::function<AttrsPtr(const void* attrs, const Node& node, double alpha)>
      smoothed;
  // The number that MXNet writes into a parameter input before it reads it
  // (gamma, under fix_gamma); nullopt for other inputs. May be empty.
  std::function<std::optional<double>(const void* attrs, int input)>
      forced_input;
  // The input whose elements, cut to whole numbers and clipped to the table,
  // number the rows of the parameter that have a gradient; -1: all have. May be
  // empty.
  std::function<int(const void* attrs)> sparse_rows;
  // Its one output as rows that are added up where data say, given the same of
  // each input, or of none; empty where it is no such sum. May be empty.
  std::function<RowForm(const void* attrs, const Node& node,
                        std::span<const RowForm> inputs, GraphBuilder&)>
      row_form;
  // May be empty: all lengths are known before anything runs.
  std::function<DataLength(const void* attrs)> data_length;
  // Where only the first `count` (i32[1]) entries of an axis of some inputs count
  // (`axes`: by input, -1: of none), and the meaning would follow the others, too:
  // the same of those alone. May be empty.
  std::function<CountedForm(const void* attrs, const Node& node,
                            std::span<const int> axes, Value count,
                            GraphBuilder&)>
      counted;
  // So many of the last outputs, none of them visible, are the next values of
  // the kState inputs, in the order of these. MXNet writes the inputs instead,
  // and does not count them as outputs. Empty: none; see Node::NextStates.
  std::function<int(const void* attrs)> next_states;

  // --- traits -------------------------------------------------------------
  // The output is input 0 read in row-major order under another shape.
  bool view = false;
  // Whether it differs from run to run for equal inputs: it is neither folded
  // nor merged nor taken for what its meaning says. Not set: never.
  std::function<bool(const void* attrs, bool training)> random;
  // Not MXNet's: rules make it, of inputs and attributes that fit. Files may
  // not name it.
  bool internal = false;
  // Whether it multiplies 8-bit integers, whatever it is given.
  bool multiplies_integers = false;
  // Whether its gradient ignores the head gradient (MXNet's loss heads). Not
  // set: never. Nodes are asked by Node::IsLossHead.
  std::function<bool(const void* attrs)> loss_head;
};

// The attributes that `texts` give; fails with what is wrong with the first
// illegal one, or with the constraint among them that is violated.
Result<AttrsPtr> LegalAttrs(const Operator& op,
                            std::span<const AttrText> texts);
// The texts that a file would have of them: required ones, and those that are
// not the default. LegalAttrs reads them back.
std::vector<AttrText> StatedAttrs(const Operator& op, const void* attrs);

// The registry: every operator of ops.def, found by name or alias. Immutable.
const Operator* FindOperator(std::string_view name);
// The same for what a user may name: none of the internal ones.
const Operator* FindPublicOperator(std::string_view name);
std::span<const Operator* const> AllOperators();  // in the order of ops.def
// The public name nearest to an unknown one; empty when nothing is close.
std::string_view NearestOperator(std::string_view name);

}  // namespace mxc
