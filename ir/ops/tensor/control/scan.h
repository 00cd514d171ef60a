// SPDX-License-Identifier: Apache-2.0
// Builds `_scan` nodes: rules of recurrent operators write what one turn
// does.
//
//   ScanBuilder scan(b, turns, /*reversed=*/false);
//   const Value x = scan.Slice(rows), h = scan.Carry(initial);
//   const Value next = Tanh(scan.inside(), x, h);
//   scan.Next(h, next);
//   const Value last = scan.Finish("steps").last[0];
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/scan_form.h"

namespace mxc {

class ScanBuilder {
 public:
  ScanBuilder(GraphBuilder& outside, int64_t turns, bool reversed);

  // Builds what a turn computes, of values that these functions return. Their
  // types may be open where nodes are added to graph() without them.
  GraphBuilder& inside() { return inside_; }
  // Where it does: for who brings nodes of another graph along.
  Graph& graph() { return body_; }
  // The turn's element of a tensor [turns, dims…].
  Value Slice(Value stacked);
  // What the turn before made of it with Next; `initial` in the first.
  Value Carry(Value initial);
  // All of it, the same in every turn.
  Value Whole(Value value);

  // A turn takes place only while the condition, one element, is not 0, and none
  // after that. `first` is what it is before the first turn; Next says what it
  // is after each, of what this returns. Before all Carry: the first two of
  // Outputs::last are the condition and the number of turns, i64[1].
  Value While(Value first);
  // Slices from this number on, an i64[1], have no turn.
  void Count(Value slices);

  // Once for each Carry.
  void Next(Value carry, Value next);
  // Puts out what every turn computes. Returns its place in Outputs::stacks.
  size_t Stack(Value value);

  // The node's outputs (ScanForm), in the order of Carry and of Stack.
  struct Outputs {
    std::vector<Value> last, stacks, histories;
  };
  Outputs Finish(std::string_view role);

  // The node, for who adds it himself, where not all types are known yet.
  struct Description {
    std::vector<Value> inputs;
    std::vector<AttrText> attrs;
  };
  Description Describe();
  // All outputs of that node as such.
  Outputs Sorted(std::span<const Value> all) const;

 private:
  struct Carried {
    Value initial, inner, next;
  };

  Value Variable(const TensorType& type);
  void TakeConstantsOut();
  void DropUnread();

  GraphBuilder& outside_;
  const int64_t turns_;
  const bool reversed_;
  Graph body_;
  GraphBuilder inside_;
  std::vector<Value> slices_, whole_;  // outside
  std::vector<Node*> slice_variables_, whole_variables_;
  std::vector<Carried> carried_;
  std::vector<Value> stacks_;
  bool conditional_ = false;
  Value count_;  // outside; empty if there is none
};

// The gradients of a scan's inputs.
std::vector<Value> ScanGradient(const ScanForm& form, GradientBuilder& g);

}  // namespace mxc
