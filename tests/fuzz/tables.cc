// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/tables.h"

#include "tests/fuzz/artifacts.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

constexpr uint64_t kWeightBytes = 8192;

// Reads all that the rows say, as executors and reports do.
void ReadEntry(const runtime::Tables& tables, const mxc_entry& entry) {
  const auto buffers = tables.Buffers(entry);
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    Touch(BytesOf(tables.Text(buffers[i].name)));
    if (buffers[i].root >= buffers.size()) Wrong("no such root");
    if (tables.Base(entry, i) >= buffers.size()) Wrong("no such base");
  }
  for (const mxc_step& step : tables.Steps(entry)) {
    Touch(BytesOf(tables.Text(step.name)));
    Touch(BytesOf(tables.Text(step.kernel_name)));
    for (const uint32_t operand : tables.Operands(step)) {
      if (operand >= buffers.size()) Wrong("no such operand");
    }
  }
  for (const uint32_t input : tables.Inputs(entry)) {
    if (input >= buffers.size()) Wrong("no such input");
  }
  for (const uint32_t output : tables.Outputs(entry)) {
    if (output >= buffers.size()) Wrong("no such output");
  }
}

void RunTables(Bytes input) {
  const auto tables = runtime::Tables::Parse(input, kWeightBytes);
  if (!tables.ok()) return;
  for (const mxc_entry& entry : tables->entries()) ReadEntry(*tables, entry);
  if (tables->preparation() != nullptr) {
    ReadEntry(*tables, *tables->preparation());
  }
  for (const mxc_state& state : tables->states()) {
    Touch(BytesOf(tables->Text(state.name)));
  }
}

}  // namespace

extern const Target tables;
const Target tables = {
    .run = RunTables, .seeds = TablesOfArtifacts, .most_bytes = 4096};

}  // namespace mxc::fuzz
