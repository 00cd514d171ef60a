// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/read_tables.h"

#include <algorithm>
#include <cstring>

#include "runtime/artifact/communication.h"

namespace mxc::test {
namespace {

// Returns the sum of all lengths, so that nothing is left out.
size_t ReadTexts(const runtime::Tables& tables, const mxc_entry& entry) {
  size_t length = std::strlen(tables.Text(entry.name));
  for (const mxc_buffer& buffer : tables.Buffers(entry)) {
    length += std::strlen(tables.Text(buffer.name));
  }
  for (const mxc_step& step : tables.Steps(entry)) {
    length += std::strlen(tables.Text(step.name)) +
              std::strlen(tables.Text(step.kernel_name)) +
              std::strlen(tables.Text(step.attributes)) +
              std::strlen(tables.KernelText(step));
    length += tables.TimesRun(step) == 0 ? 0 : 1;
  }
  return length;
}

std::string ReadEntry(const runtime::Tables& tables, const mxc_entry& entry) {
  const auto buffers = tables.Buffers(entry);
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].root >= buffers.size()) return "no such root";
    if (tables.Base(entry, i) >= buffers.size()) return "no such base";
  }
  const auto missing = [&](std::span<const uint32_t> rows) {
    return std::ranges::any_of(
        rows, [&](uint32_t row) { return row >= buffers.size(); });
  };
  for (const mxc_step& step : tables.Steps(entry)) {
    if (missing(tables.Operands(step))) return "no such operand";
    if (step.input_count > step.operands.count) return "no such input";
  }
  if (missing(tables.Inputs(entry))) return "no such input";
  if (missing(tables.Outputs(entry))) return "no such output";
  if (missing(tables.Carries(entry))) return "no such carry";
  if (ReadTexts(tables, entry) > SIZE_MAX / 2) return "texts without an end";
  for (const auto& exchange : runtime::ExchangesOf(tables, entry)) {
    if (exchange.state >= tables.states().size()) return "no such state";
  }
  return "";
}

}  // namespace

std::string ReadAll(const runtime::Tables& tables) {
  size_t length = std::strlen(tables.Text(tables.header().device));
  for (const mxc_state& state : tables.states()) {
    length += std::strlen(tables.Text(state.name));
  }
  for (const mxc_import& import : tables.imports()) {
    length += std::strlen(tables.Text(import.name));
  }
  if (length > SIZE_MAX / 2) return "texts without an end";
  for (const mxc_entry& entry : tables.entries()) {
    const std::string wrong = ReadEntry(tables, entry);
    if (!wrong.empty()) return wrong;
  }
  return tables.preparation() == nullptr
             ? ""
             : ReadEntry(tables, *tables.preparation());
}

}  // namespace mxc::test
