// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "frontend/mxnet/subgraphs/expansion.h"
#include "frontend/mxnet/subgraphs/loop_scan.h"

namespace mxc {
namespace {

// Subgraphs: the condition and the body, which puts out a row of each of `rows`
// outputs, then the next variables. A scan ends when the condition fails; a turn
// of an unrolled loop computes, and then chooses what was before.
class WhileLoop {
 public:
  explicit WhileLoop(Expansion& expansion) : expansion_(expansion) {}

  Status Run() {
    MXC_RETURN_IF_ERROR(Read());
    MXC_RETURN_IF_ERROR(ExpandParts());
    if (CanScan()) {
      MXC_ASSIGN(const std::vector<Value> outputs, Scan());
      return expansion_.Replace(outputs);
    }
    MXC_RETURN_IF_ERROR(expansion_.CheckSize(steps_, body()));
    MXC_ASSIGN(const std::vector<Value> outputs, Unroll());
    return expansion_.Replace(outputs);
  }

 private:
  const Subgraph& condition() const { return subgraphs_[0]; }
  const Subgraph& body() const { return subgraphs_[1]; }
  const std::vector<Value>& inputs() const { return expansion_.inputs(); }

  Status Read() {
    MXC_ASSIGN(subgraphs_,
               ReadSubgraphs(expansion_.node(), expansion_.graph(), 2));
    MXC_ASSIGN(steps_, expansion_.Number("max_iterations"));
    MXC_ASSIGN(rows_, expansion_.Number("num_out_data"));
    MXC_ASSIGN(const std::vector<int64_t> from,
               expansion_.Numbers("func_input_locs"));
    MXC_ASSIGN(const std::vector<int64_t> variables,
               expansion_.Numbers("func_var_locs"));
    for (const int64_t at : variables) {
      const bool within = at >= 0 && at < std::ssize(from) && from[at] >= 0 &&
                          from[at] < std::ssize(inputs());
      if (!within) {
        return expansion_.Fail("attribute 'func_var_locs' is out of range");
      }
      slots_.push_back(from[at]);
    }
    if (std::ssize(body().graph.outputs) != rows_ + std::ssize(slots_) ||
        condition().graph.outputs.size() != 1) {
      return expansion_.Fail("the subgraphs have other outputs than expected");
    }
    return Done{};
  }

  Status ExpandParts() {
    const char* const locations[] = {"cond_input_locs", "func_input_locs"};
    for (size_t part = 0; part < subgraphs_.size(); ++part) {
      MXC_ASSIGN(const std::vector<Value> given,
                 expansion_.Pick(inputs(), locations[part],
                                 subgraphs_[part].variables.size()));
      std::vector<TensorType> types;
      for (const Value& value : given) types.push_back(value.type());
      MXC_RETURN_IF_ERROR(ExpandInside(subgraphs_[part], types));
    }
    return Done{};
  }

  bool CanScan() const {
    std::vector<int64_t> slots = slots_;
    std::ranges::sort(slots);
    return MayBeTurn(condition()) && MayBeTurn(body()) && steps_ >= 1 &&
           steps_ <= INT32_MAX &&
           std::ranges::adjacent_find(slots) == slots.end();
  }

  Result<std::vector<Value>> Scan() {
    GraphBuilder outside(expansion_.graph(), expansion_.node());
    ScanBuilder scan(outside, steps_, /*reversed=*/false);
    Expansion turn = expansion_.Inside(scan.graph());
    MXC_ASSIGN(const Value first, Holds(expansion_, inputs(), ""));
    const Value condition = scan.While(first);
    std::vector<Value> values(inputs().size()), variables;
    for (const int64_t slot : slots_) {
      values[slot] = scan.Carry(inputs()[slot]);
      variables.push_back(values[slot]);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) values[i] = scan.Whole(inputs()[i]);
    }
    MXC_ASSIGN(const std::vector<Value> results, RunBody(turn, values, ""));
    for (int64_t k = 0; k < rows_; ++k) scan.Stack(results[k]);
    for (size_t k = 0; k < slots_.size(); ++k) {
      const Value next = results[rows_ + static_cast<int64_t>(k)];
      values[slots_[k]] = next;
      scan.Next(variables[k], next);
    }
    MXC_ASSIGN(const Value holds, Holds(turn, values, ""));
    scan.Next(condition, holds);
    auto [last, outputs, histories] = AddScan(scan, expansion_);
    outputs.insert(outputs.end(), last.begin() + 2, last.end());
    return outputs;
  }

  // f32[1]: whether the loop goes on with these values of the node's inputs.
  Result<Value> Holds(Expansion& within, const std::vector<Value>& values,
                      const std::string& prefix) const {
    MXC_ASSIGN(
        const std::vector<Value> asked,
        within.Pick(values, "cond_input_locs", condition().variables.size()));
    Value holds = within.Copy(condition(), asked, prefix + "condition/")[0];
    holds = within.Add("Cast", {holds}, {{"dtype", "float32"}},
                       prefix + "holds")[0];
    return within.Add("Reshape", {holds}, {{"shape", "(1,)"}},
                      prefix + "one")[0];
  }

  Result<std::vector<Value>> RunBody(Expansion& within,
                                     const std::vector<Value>& values,
                                     const std::string& prefix) const {
    MXC_ASSIGN(const std::vector<Value> given,
               within.Pick(values, "func_input_locs", body().variables.size()));
    return within.Copy(body(), given, prefix);
  }

  Result<std::vector<Value>> Unroll() {
    std::vector<Value> values = inputs();
    std::vector<std::vector<Value>> rows(static_cast<size_t>(rows_));
    Value active;
    for (int64_t step = 0; step < steps_; ++step) {
      const std::string prefix = fmt::format("{}/", step);
      MXC_ASSIGN(const Value holds, Holds(expansion_, values, prefix));
      active = active ? expansion_.Add("broadcast_logical_and", {active, holds},
                                       {}, prefix + "active")[0]
                      : holds;
      MXC_ASSIGN(const std::vector<Value> results,
                 RunBody(expansion_, values, prefix));
      Choose(active, results, prefix, rows, values);
    }
    std::vector<Value> outputs;
    for (const auto& row : rows) {
      outputs.push_back(expansion_.Stack(row, outputs.size()));
    }
    for (const int64_t slot : slots_) outputs.push_back(values[slot]);
    return outputs;
  }

  // The results of a turn, or zeros and the variables that were.
  void Choose(Value active, const std::vector<Value>& results,
              const std::string& prefix, std::vector<std::vector<Value>>& rows,
              std::vector<Value>& values) const {
    for (int64_t k = 0; k < std::ssize(results); ++k) {
      const std::string name = fmt::format("{}output{}", prefix, k);
      const auto choose = [&](Value otherwise) {
        return expansion_.Add("_select", {active, results[k], otherwise}, {},
                              name)[0];
      };
      if (k < rows_) {
        rows[k].push_back(
            choose(expansion_.Add("zeros_like", {results[k]}, {}, name)[0]));
      } else {
        Value& variable = values[slots_[k - rows_]];
        variable = choose(variable);
      }
    }
  }

  Expansion& expansion_;
  std::vector<Subgraph> subgraphs_;
  int64_t steps_ = 0, rows_ = 0;
  std::vector<int64_t> slots_;  // inputs of the node, by variable of the loop
};

}  // namespace

Status ExpandWhileLoop(Expansion& expansion) {
  return WhileLoop(expansion).Run();
}

}  // namespace mxc
