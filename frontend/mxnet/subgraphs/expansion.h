// SPDX-License-Identifier: Apache-2.0
// What operators with nested graphs become: MXNet's control flow
// (operator/control_flow.cc), and layers that it has fused for oneDNN.
//
//   _cond        both branches, and a choice, of which form-branches (passes/)
//                makes a branch that runs one
//   _foreach     the body once for each part of the data, whose number must be
//                known by then
//   _while_loop  the body until the condition fails, at most max_iterations
//                times; the other rows of the outputs are zeros
//   _sg_mkldnn_* the fused operators or, of 8-bit numbers, a `_quantized_layer`
//
// A loop becomes one `_scan` where its body can be the turn of one (MayBeTurn);
// control flow in the body is expanded before. Else its turns are unrolled:
// copies of the body, one after the other.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/mxnet/subgraphs/subgraph.h"
#include "ir/graph/graph.h"

namespace mxc {

// Every copy costs code: more nodes than this are refused.
inline constexpr int64_t kMostCopies = 1 << 16;

// Reads the attributes of an operator and adds nodes that stand for it.
class Expansion {
 public:
  // New nodes of `graph` are named after `node` and have its place in the file.
  Expansion(Graph& graph, Node& node) : graph_(graph), node_(node) {}
  // The same for the graph inside of a node that is to stand for this one.
  Expansion Inside(Graph& graph) const { return {graph, node_}; }

  Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  const std::vector<Value>& inputs() const { return node_.inputs; }

  template <class... Args>
  Diagnostic Fail(fmt::format_string<Args...> format, Args&&... args) const {
    return Error(node_.loc, "{} '{}': {}", node_.op_name, node_.name,
                 fmt::format(format, std::forward<Args>(args)...));
  }

  // --- attributes
  // The text of the first of these names that the file gives; empty for none.
  std::string_view Text(std::initializer_list<std::string_view> names) const;
  // Returns whether that is true.
  bool Flag(std::initializer_list<std::string_view> names) const;
  Result<std::vector<int64_t>> Numbers(std::string_view name) const;
  Result<int64_t> Number(std::string_view name) const;
  // The values at these positions of `from`, `count` of them.
  Result<std::vector<Value>> Pick(const std::vector<Value>& from,
                                  std::string_view name, size_t count) const;

  // --- nodes
  std::vector<Value> Add(std::string_view op_name, std::vector<Value> inputs,
                         std::vector<AttrText> attrs, std::string_view name);
  // What a copy of the subgraph yields for these values of its variables.
  std::vector<Value> Copy(const Subgraph& subgraph,
                          const std::vector<Value>& values,
                          const std::string& prefix);
  // The rows of the node's output `output`.
  Value Stack(std::vector<Value> rows, size_t output);

  // The node's outputs are these from now on.
  Status Replace(const std::vector<Value>& outputs);
  // Whether so many copies of the body may be made.
  Status CheckSize(int64_t steps, const Subgraph& body) const;

 private:
  Node* Named(Node* node) const;

  Graph& graph_;
  Node& node_;
};

// Expands what there is of them, and leaves the nodes that they stood in.
// True if there was any.
Result<bool> ExpandAll(Graph& graph);

Status ExpandCond(Expansion& expansion);
Status ExpandForeach(Expansion& expansion);
Status ExpandWhileLoop(Expansion& expansion);
Status ExpandFusedLayer(Expansion& expansion);

}  // namespace mxc
