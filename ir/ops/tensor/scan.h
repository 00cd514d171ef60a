// SPDX-License-Identifier: Apache-2.0
// Builds `_scan` nodes: rules of recurrent operators write what one turn
// does.
//
//   ScanBuilder scan(b, turns, /*reversed=*/false);
//   const Value x = scan.Slice(rows), h = scan.Carry(initial);
//   const Value next = Tanh(scan.inside(), x, h);
//   scan.Next(h, next, /*stacked=*/true);
//   const Value all = scan.Finish("steps")[0];
#pragma once

#include <string_view>
#include <vector>

#include "ir/graph/builder.h"

namespace mxc {

class ScanBuilder {
 public:
  ScanBuilder(GraphBuilder& outside, int64_t turns, bool reversed);

  // Builds what a turn computes, of values that these functions return.
  GraphBuilder& inside() { return inside_; }
  // The turn's element of a tensor [turns, dims…].
  Value Slice(Value stacked);
  // What the turn before made of it with Next; `initial` in the first.
  Value Carry(Value initial);
  // All of it, the same in every turn.
  Value Whole(Value value);

  // Once for each Carry. `stacked`: the node puts out what every turn sees and
  // what the last one hands on, [turns + 1, dims…] (see ScanForm), else only
  // the latter.
  void Next(Value carry, Value next, bool stacked);
  // Puts out what every turn computes. Returns its place behind the carries.
  size_t Stack(Value value);

  // The node's outputs: in the order of the carries, then of the stacks.
  std::vector<Value> Finish(std::string_view role);

 private:
  struct Carried {
    Value initial, inner, next;
    bool stacked = false;
  };

  Value Variable(const TensorType& type);

  GraphBuilder& outside_;
  const int64_t turns_;
  const bool reversed_;
  Graph body_;
  GraphBuilder inside_;
  std::vector<Value> slices_, whole_;  // outside
  std::vector<Node*> slice_variables_, whole_variables_;
  std::vector<Carried> carried_;
  std::vector<Value> stacks_;
};

}  // namespace mxc
