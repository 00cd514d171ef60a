// SPDX-License-Identifier: Apache-2.0
// sparse-inputs: who reads a csr matrix reads its elements that are not zero.
//
//   indices, values ─► _csr ─► square ─► dot ─► y
//                                   w ─┘
//   ⇒  values ─► square ─┐
//            indices, w ─┴► _csr_dot ─► y
//
// Functions of one element that keep 0 work on the values, and operators that
// can take the elements do (Operator::of_csr). For other readers the matrix is
// written out, as _csr says.
#include <map>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/csr_form.h"
#include "ir/ops/operators.h"
#include "ir/program/definition.h"
#include "ir/program/evaluator.h"
#include "ir/program/steps/map.h"
#include "passes/passes.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// True if each element is a function of the input's that is 0 where that is.
bool KeepsZeros(const Node& node, bool training) {
  if (!node.op->meaning || node.types.size() != 1 || node.inputs.size() != 1 ||
      node.types[0].shape != node.inputs[0].shape()) {
    return false;
  }
  Definition definition(node, training);
  node.op->meaning(node.attrs.get(), definition);
  const std::vector<Store> stores = definition.stores();
  if (stores.size() != 1 || HasReduce(stores[0].value)) return false;
  bool own = true;
  VisitLoads(stores[0].value, [&](const ExprNode& load) {
    own = own && IsIdentityIndex(load.args);
  });
  const Expr at_zero = Rewrite(stores[0].value, [](const Expr& e) {
    return e->kind == ExprKind::kLoad ? Constant(0, e->dtype) : Expr();
  });
  // A function of the index, too, need not be 0 everywhere.
  if (!own || !FreeVars(at_zero).empty()) return false;
  return Evaluator({}).Evaluate(at_zero, 1, {})[0] == Element(0);
}

class CsrReaders {
 public:
  explicit CsrReaders(Graph& graph) : graph_(graph) {}

  bool Run() {
    for (Node* node : graph_.TopologicalOrder()) {
      replaced_.ApplyTo(*node);
      if (node->kind == Node::Kind::kOperator) Visit(*node);
    }
    const bool changed = !replaced_.empty();
    graph_.ReplaceUses(replaced_);
    return changed;
  }

 private:
  using Slot = std::pair<int, int>;  // node id, output
  static Slot SlotOf(Value value) { return {value.node->id(), value.index}; }

  void Visit(Node& node) {
    if (node.op == &OperatorOf<op::Csr>()) {
      forms_[SlotOf(node.out())] = {node.inputs[0], node.inputs[1],
                                    node.types[0].shape[1]};
      return;
    }
    if (node.inputs.empty()) return;
    const auto found = forms_.find(SlotOf(node.inputs[0]));
    if (found == forms_.end()) return;
    const CsrForm form = found->second;
    if (KeepsZeros(node, graph_.training)) {
      forms_[SlotOf(node.out())] = OnValues(node, form);
    } else if (node.op->of_csr) {
      GraphBuilder builder(graph_, node);
      const Value value =
          node.op->of_csr(node.attrs.get(), node, form, builder);
      if (value) replaced_.Add(node.out(), value);
    }
  }

  // The node itself remains, for readers of the whole.
  CsrForm OnValues(const Node& node, CsrForm form) {
    Node* copy = graph_.AddOperator(node.op, node.name + "/values", node.attrs,
                                    {form.values});
    copy->types = {{node.types[0].dtype, form.values.shape()}};
    copy->loc = node.loc;
    copy->origins = node.origins;
    if (copy->origins.empty()) copy->origins = {node.name};
    form.values = copy->out();
    return form;
  }

  Graph& graph_;
  Replacements replaced_;
  std::map<Slot, CsrForm> forms_;
};

}  // namespace

Result<bool> SparseInputs(Graph& graph, PassContext&) {
  return CsrReaders(graph).Run();
}

}  // namespace mxc
