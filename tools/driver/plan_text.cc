// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/program/memory.h"
#include "tools/driver/figures.h"

namespace mxc {

std::string DescribeNetwork(const Plan& plan) {
  return fmt::format("{}, {}, {}", Count(plan.nodes, "node"),
                     Count(plan.parameters, "parameter"),
                     FormatBytes(plan.parameter_bytes));
}

std::string DescribeMemory(const Plan& plan) {
  const Program& program = plan.largest();
  const Memory memory = MemoryOf(program);
  int64_t states = 0;
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    states += program.buffers[b].bytes();
  }
  std::string text = fmt::format(
      "peak {}, lower bound {}, {}", FormatBytes(memory.peak()),
      FormatBytes(memory.lower_bound()),
      states > 0 ? FormatBytes(states) + " of states"
                 : FormatBytes(memory.naive()) + " without sharing");
  const double percent = 100 * plan.computed_again;
  if (percent >= 0.5) {
    text += fmt::format(", computes {:.0f} % again", percent);
  }
  return text;
}

std::string DescribeKernels(const CodeImage& code) {
  const std::string kernels = Count(std::ssize(code.kernels), "kernel");
  if (code.cached == 0) return kernels;
  return fmt::format("{}, {} from the cache", kernels, code.cached);
}

std::string DescribeFusion(const Plan& plan) {
  const Program& program = plan.programs.front();
  std::set<std::string> heads;  // one operator for each step that remains
  for (const Step& step : program.steps) {
    if (!step.origins.empty()) heads.insert(step.origins.front());
  }
  std::map<std::string, int> merged;
  for (const UserOperator& op : plan.operators) {
    if (!heads.contains(op.name)) ++merged[op.op];
  }
  std::vector<std::pair<int, std::string>> ranked;
  for (const auto& [op, count] : merged) ranked.emplace_back(-count, op);
  std::sort(ranked.begin(), ranked.end());
  std::string text =
      fmt::format("{} → {}", Count(std::ssize(plan.operators), "operator"),
                  Count(std::ssize(program.steps), "step"));
  // As many kinds as fit on the line.
  constexpr size_t kLongest = 63;  // bytes; the arrow has three
  for (size_t i = 0; i < ranked.size(); ++i) {
    const std::string kind = fmt::format("{}{} {}", i == 0 ? "; merged " : ", ",
                                         -ranked[i].first, ranked[i].second);
    if (i > 0 && text.size() + kind.size() > kLongest) {
      text += " …";
      break;
    }
    text += kind;
  }
  return text;
}

}  // namespace mxc
