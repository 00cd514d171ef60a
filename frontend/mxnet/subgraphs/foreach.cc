// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "frontend/mxnet/subgraphs/expansion.h"
#include "frontend/mxnet/subgraphs/loop_scan.h"

namespace mxc {
namespace {

// The node's inputs are the data, the states, then the rest. The body puts out
// a row of each of `rows` outputs, then the next states.
class Foreach {
 public:
  explicit Foreach(Expansion& expansion) : expansion_(expansion) {}

  Status Run() {
    MXC_RETURN_IF_ERROR(Read());
    MXC_ASSIGN(const int64_t steps, Steps());
    MXC_RETURN_IF_ERROR(ExpandInside(subgraphs_[0], TypesInside()));
    if (CanScan(steps)) return expansion_.Replace(Scan(steps));
    MXC_RETURN_IF_ERROR(expansion_.CheckSize(steps, body()));
    return expansion_.Replace(Unroll(steps));
  }

 private:
  const Subgraph& body() const { return subgraphs_[0]; }
  const std::vector<Value>& inputs() const { return expansion_.inputs(); }

  Status Read() {
    MXC_ASSIGN(subgraphs_,
               ReadSubgraphs(expansion_.node(), expansion_.graph(), 1));
    MXC_ASSIGN(std::vector<int64_t> order, expansion_.Numbers("in_data_locs"));
    MXC_ASSIGN(const std::vector<int64_t> states,
               expansion_.Numbers("in_state_locs"));
    MXC_ASSIGN(const std::vector<int64_t> rest,
               expansion_.Numbers("remain_locs"));
    MXC_ASSIGN(rows_, expansion_.Number("num_out_data"));
    data_ = std::ssize(order);
    states_ = std::ssize(states);
    order.insert(order.end(), states.begin(), states.end());
    order.insert(order.end(), rest.begin(), rest.end());
    source_.assign(body().variables.size(), -1);
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] < 0 || order[i] >= std::ssize(source_)) break;
      source_[static_cast<size_t>(order[i])] = static_cast<int>(i);
    }
    if (order.size() != inputs().size() ||
        std::ranges::find(source_, -1) != source_.end() ||
        std::ssize(body().graph.outputs) != rows_ + states_ || data_ == 0) {
      return expansion_.Fail("its locations do not fit the subgraph");
    }
    return Done{};
  }

  Result<int64_t> Steps() const {
    const Shape& shape = inputs()[0].shape();
    if (shape.known_rank() && shape.rank() > 0 && shape.known(0)) {
      return shape[0];
    }
    return expansion_.Fail(
        "the number of steps is not known; give the input shapes");
  }

  // Of the body's variables.
  std::vector<TensorType> TypesInside() const {
    std::vector<TensorType> types;
    for (const int from : source_) {
      const TensorType type = inputs()[from].type();
      types.push_back(from < data_ ? PartOf(type) : type);
    }
    return types;
  }

  TensorType PartOf(TensorType data) const {
    data = SliceOf(data);
    if (IsNumber(data.shape)) data.shape = Shape{1};
    return data;
  }

  // The parts of data along one axis have one, of extent 1; MXNet 2.0's have none.
  bool IsNumber(const Shape& part) const {
    return expansion_.node().op_name == "_foreach" && part.known_rank() &&
           part.rank() == 0;
  }

  bool CanScan(int64_t steps) const {
    if (!MayBeTurn(body()) || steps < 1 || steps > INT32_MAX) return false;
    const auto has_steps = [&](const Value& value) {
      return value.shape().rank() > 0 && value.shape()[0] == steps;
    };
    return std::all_of(inputs().begin(), inputs().begin() + data_, has_steps);
  }

  std::vector<Value> Scan(int64_t steps) {
    GraphBuilder outside(expansion_.graph(), expansion_.node());
    ScanBuilder scan(outside, steps, /*reversed=*/false);
    std::vector<Value> inside;
    for (const Value& input : inputs()) {
      const auto i = std::ssize(inside);
      inside.push_back(i < data_             ? Part(scan, input)
                       : i < data_ + states_ ? scan.Carry(input)
                                             : scan.Whole(input));
    }
    Expansion turn = expansion_.Inside(scan.graph());
    const std::vector<Value> results = turn.Copy(body(), Ordered(inside), "");
    for (int64_t k = 0; k < rows_; ++k) scan.Stack(results[k]);
    for (int64_t k = 0; k < states_; ++k) {
      scan.Next(inside[data_ + k], results[rows_ + k]);
    }
    auto [last, outputs, histories] = AddScan(scan, expansion_);
    outputs.insert(outputs.end(), last.begin(), last.end());
    return outputs;
  }

  Value Part(ScanBuilder& scan, const Value& data) const {
    const Value slice = scan.Slice(data);
    if (!IsNumber(slice.shape())) return slice;
    return expansion_.Inside(scan.graph())
        .Add("Reshape", {slice}, {{"shape", "(1,)"}}, slice.node->name)[0];
  }

  // Those of the body's variables, of the node's inputs.
  std::vector<Value> Ordered(const std::vector<Value>& given) const {
    std::vector<Value> values;
    for (const int from : source_) values.push_back(given[from]);
    return values;
  }

  std::vector<Value> Unroll(int64_t steps) {
    std::vector<std::vector<Value>> parts;
    for (int64_t i = 0; i < data_; ++i) {
      const bool stays = IsNumber(SliceOf(inputs()[i].type()).shape);
      parts.push_back(
          expansion_.Add("SliceChannel", {inputs()[i]},
                         {{"num_outputs", std::to_string(steps)},
                          {"axis", "0"},
                          {"squeeze_axis", stays ? "False" : "True"}},
                         fmt::format("data{}", i)));
    }
    std::vector<Value> given = inputs();
    std::vector<std::vector<Value>> rows(static_cast<size_t>(rows_));
    for (int64_t step = 0; step < steps; ++step) {
      for (int64_t i = 0; i < data_; ++i) given[i] = parts[i][step];
      const auto results =
          expansion_.Copy(body(), Ordered(given), fmt::format("{}/", step));
      for (int64_t k = 0; k < rows_; ++k) rows[k].push_back(results[k]);
      std::copy(results.begin() + rows_, results.end(), given.begin() + data_);
    }
    std::vector<Value> outputs;
    for (const auto& row : rows) {
      outputs.push_back(expansion_.Stack(row, outputs.size()));
    }
    const auto first = given.begin() + data_;
    outputs.insert(outputs.end(), first, first + states_);
    return outputs;
  }

  Expansion& expansion_;
  std::vector<Subgraph> subgraphs_;
  int64_t data_ = 0, states_ = 0;  // inputs
  int64_t rows_ = 0;               // outputs
  std::vector<int> source_;  // by variable of the body: its input of the node
};

}  // namespace

Status ExpandForeach(Expansion& expansion) { return Foreach(expansion).Run(); }

}  // namespace mxc
