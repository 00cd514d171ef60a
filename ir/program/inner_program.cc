// SPDX-License-Identifier: Apache-2.0
#include "ir/program/inner_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mxc {

std::string InnerKey(const Program& program, size_t windows,
                     const ExprText& text) {
  std::string key = fmt::format("|arena {}", program.arena_bytes());
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const int root = program.Root(static_cast<int>(i));
    const bool window = static_cast<size_t>(root) < windows;
    key += fmt::format("|{}{}+{}@{}", ToString(buffer.type),
                       ToString(buffer.layout),
                       program.BytesIntoRoot(static_cast<int>(i)),
                       window ? root : program.buffers[root].offset);
  }
  for (const Step& step : program.steps) {
    key += fmt::format("|step [{}] {{{}}}", fmt::join(step.operands(), ","),
                       KeyOf(program, step, text));
  }
  return key;
}

double InnerFlops(const Program& program) {
  double total = 0;
  for (const Step& step : program.steps) {
    total += static_cast<double>(step.flops(program));
  }
  return total;
}

}  // namespace mxc
