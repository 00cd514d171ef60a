// SPDX-License-Identifier: Apache-2.0
// When the nodes of a stage run, beside what it sends and receives.
#include "passes/run_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ir/ops/tensor/control/transfer.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

const TensorType kType = {DType::kF32, Shape{2}};

// The names of operators, in the order in which they run.
std::vector<std::string> OrderOf(Network& net) {
  REQUIRE(InferTypes(net.graph, true).ok());
  std::vector<std::string> names;
  for (const Node* node : RunOrder(net.graph)) {
    if (node->kind == Node::Kind::kOperator) names.push_back(node->name);
  }
  return names;
}

// Nodes whose transfers are called after `at`.
Value Received(Network& net, const std::string& at, Value after) {
  Node origin;
  origin.name = at;
  GraphBuilder builder(net.graph, origin);
  return ReceivedFrom(builder, 1, kType, after);
}
Value Sent(Network& net, const std::string& at, Value value, Value after) {
  Node origin;
  origin.name = at;
  GraphBuilder builder(net.graph, origin);
  return SentTo(builder, 1, value, after);
}

TEST_CASE("a last stage sends a part's gradient before those of its weights") {
  Network net("last");
  Value last, sum;
  for (const std::string part : {"0", "1"}) {
    last = Received(net, "in" + part, last);
    const Value forward = net.Op("relu", "forward" + part, {last});
    const Value weight = net.Op("square", "weight" + part, {forward});
    const Value data = net.Op("negative", "data" + part, {forward});
    forward.node->types = weight.node->types = data.node->types = {kType};
    last = Sent(net, "out" + part, data, last);
    sum = sum ? net.Op("elemwise_add", "sum" + part, {sum, weight}) : weight;
  }
  net.Output(sum);
  net.Output(last);
  CHECK(OrderOf(net) == std::vector<std::string>{
                            "in0/receive", "forward0", "data0", "out0/send",
                            "weight0", "in1/receive", "forward1", "data1",
                            "out1/send", "weight1", "sum1"});
}

TEST_CASE("a first stage ends a part before it waits for the next") {
  Network net("first");
  const Value x = net.Input("x", {2});
  std::vector<Value> forwards;
  for (const std::string part : {"0", "1", "2"}) {
    forwards.push_back(net.Op("relu", "forward" + part, {x}));
    forwards.back().node->types = {kType};
  }
  Value last = Sent(net, "out0", forwards[0], {});
  last = Sent(net, "out1", forwards[1], last);
  Value sum;
  for (int part = 0; part < 3; ++part) {
    const std::string name = std::to_string(part);
    last = Received(net, "in" + name, last);
    const Value backward =
        net.Op("elemwise_mul", "backward" + name, {last, forwards[part]});
    backward.node->types = {kType};
    sum =
        sum ? net.Op("elemwise_add", "sum" + name, {sum, backward}) : backward;
    if (part == 0) last = Sent(net, "out2", forwards[2], last);
  }
  net.Output(sum);
  CHECK(OrderOf(net) == std::vector<std::string>{
                            "forward0", "out0/send", "forward1", "out1/send",
                            "in0/receive", "backward0", "forward2", "out2/send",
                            "in1/receive", "backward1", "sum1", "in2/receive",
                            "backward2", "sum2"});
}

}  // namespace
}  // namespace mxc
