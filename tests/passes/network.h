// SPDX-License-Identifier: Apache-2.0
// Small networks for the tests of passes, built operator by operator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/program/interpreter.h"
#include "ir/target/target.h"
#include "passes/pass.h"

namespace mxc {

class Network {
 public:
  explicit Network(std::string name = "net") { graph.name = std::move(name); }

  Value Input(const std::string& name, Shape shape, DType dtype = DType::kF32) {
    Node* node = graph.AddVariable(name);
    node->types = {{dtype, shape}};
    std::byte* bytes = nullptr;
    inputs[name] = Tensor::Allocate({dtype, shape}, &bytes);
    for (int64_t i = 0; i < shape.elements(); ++i) {
      StoreElement(bytes + i * SizeOf(dtype), dtype, Random());
    }
    return node->out();
  }
  Value Constant(const std::string& name, Shape shape, double low = -1,
                 double high = 1) {
    std::vector<float> values(shape.elements());
    for (float& v : values) {
      v = static_cast<float>((Random() + 1) / 2 * (high - low) + low);
    }
    return graph.AddConstant(name, Tensor::FromFloats(shape, values))->out();
  }
  Value Op(const std::string& op, const std::string& name,
           std::vector<Value> operands, std::vector<AttrText> attrs = {}) {
    const Operator* found = FindOperator(op);
    MXC_CHECK(found != nullptr, "{}", op);
    std::vector<AttrError> errors;
    AttrsPtr parsed = found->parse(attrs, errors);
    MXC_CHECK(errors.empty(), "{}: {}", op, errors[0].message);
    return graph.AddOperator(found, name, parsed, std::move(operands))->out();
  }
  // Convolution with its weights; `attrs` besides kernel and num_filter.
  Value Convolution(const std::string& name, Value data, int64_t channels_in,
                    int64_t filters, int64_t kernel,
                    std::vector<AttrText> attrs = {}, int64_t groups = 1) {
    attrs.emplace_back("kernel", fmt::format("({0}, {0})", kernel));
    attrs.emplace_back("num_filter", std::to_string(filters));
    attrs.emplace_back("num_group", std::to_string(groups));
    std::vector<Value> operands = {
        data, Constant(name + "_weight",
                       {filters, channels_in / groups, kernel, kernel})};
    bool bias = true;
    for (const auto& [key, text] : attrs) {
      if (key == "no_bias" && text == "True") bias = false;
    }
    if (bias) operands.push_back(Constant(name + "_bias", {filters}));
    return Op("Convolution", name, operands, attrs);
  }
  Value FullyConnected(const std::string& name, Value data, int64_t in,
                       int64_t hidden) {
    return Op("FullyConnected", name,
              {data, Constant(name + "_weight", {hidden, in}),
               Constant(name + "_bias", {hidden})},
              {{"num_hidden", std::to_string(hidden)}});
  }
  Value BatchNorm(const std::string& name, Value data, int64_t channels,
                  std::vector<AttrText> attrs = {}) {
    return Op("BatchNorm", name,
              {data, Constant(name + "_gamma", {channels}, 0.5, 2),
               Constant(name + "_beta", {channels}),
               Constant(name + "_moving_mean", {channels}),
               Constant(name + "_moving_var", {channels}, 0.5, 2)},
              std::move(attrs));
  }
  void Output(Value value) {
    graph.output_names.push_back("out" + std::to_string(graph.outputs.size()));
    graph.outputs.push_back(value);
  }

  // A graph of its own: passes consume what they are given.
  Graph Copy() const {
    Graph copy;
    copy.name = graph.name;
    copy.training = graph.training;
    copy.output_names = graph.output_names;
    std::map<const Node*, Node*> of;
    for (const auto& node : graph.nodes()) {
      Node*& twin = of[node.get()];
      std::vector<Value> operands;
      for (const Value& input : node->inputs) {
        operands.push_back(of.at(input.node)->out(input.index));
      }
      if (node->kind == Node::Kind::kVariable) {
        twin = copy.AddVariable(node->name);
      } else if (node->kind == Node::Kind::kConstant) {
        twin = copy.AddConstant(node->name, node->constant);
      } else {
        twin = copy.AddOperator(node->op, node->name, node->attrs, operands);
      }
      twin->types = node->types;
      twin->role = node->role;
    }
    for (const Value& output : graph.outputs) {
      copy.outputs.push_back(of.at(output.node)->out(output.index));
    }
    return copy;
  }

  double Random() {  // in [-1, 1)
    return static_cast<double>(random_()) / 2147483648.0 - 1.0;
  }

  Graph graph;
  std::map<std::string, Tensor> inputs;

 private:
  std::mt19937 random_{7};
};

// Compiles for the interpreter; a failure ends the test. `cache_bytes`, if set,
// is the size of every cache: with small ones, small tensors pass by tiles.
inline Program Compile(const Network& network, const PassOptions& options,
                       const KernelCatalog* catalog = nullptr,
                       int64_t cache_bytes = 0, std::string device = "") {
  Target target = *ResolveTarget("x86-64-v3");
  target.device = std::move(device);
  if (cache_bytes > 0)
    target.machine.l2.bytes = target.machine.l3.bytes = cache_bytes;
  PassOptions distrustful = options;
  distrustful.check_changed = true;
  auto program = RunPipeline(network.Copy(), {&target, catalog}, distrustful);
  MXC_CHECK(program.ok(), "{}", Render(program.errors()));
  return std::move(*program);
}

inline std::vector<Tensor> Run(const Program& program,
                               const std::map<std::string, Tensor>& inputs) {
  auto outputs = Interpret(program, inputs);
  MXC_CHECK(outputs.ok(), "{}", Render(outputs.errors()));
  return std::move(*outputs);
}

// The largest difference, relative to the largest expected value.
inline double Distance(const std::vector<Tensor>& actual,
                       const std::vector<Tensor>& expected) {
  MXC_CHECK(actual.size() == expected.size());
  double distance = 0;
  for (size_t k = 0; k < actual.size(); ++k) {
    MXC_CHECK(actual[k].type() == expected[k].type());
    double largest = 1e-30, difference = 0;
    for (int64_t i = 0; i < expected[k].shape().elements(); ++i) {
      largest = std::max(largest, std::fabs(expected[k].At(i)));
      difference =
          std::max(difference, std::fabs(actual[k].At(i) - expected[k].At(i)));
    }
    distance = std::max(distance, difference / largest);
  }
  return distance;
}

inline bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() &&
         std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

}  // namespace mxc
