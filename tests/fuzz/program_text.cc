// SPDX-License-Identifier: Apache-2.0
#include "frontend/frontend.h"
#include "ir/program/program.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunProgramText(Bytes input) {
  CheckReadsBack(
      input, [](const auto& source) { return ParseProgram(source); },
      [](const Program& program) { return Print(program); });
}

std::vector<std::string> ProgramTextSeeds() {
  const auto target = ResolveTarget("x86-64-v3");
  if (!target.ok()) Wrong(Render(target.errors()));
  std::vector<std::string> seeds;
  for (const std::string& text : NativeNetworks()) {
    auto model = LoadText(SourceOf(BytesOf(text)), {});
    if (!model.ok()) Wrong(Render(model.errors()));
    PassContext context;
    context.target = &*target;
    const auto program = RunPipeline(std::move(model->graph), context, {});
    if (!program.ok()) Wrong(Render(program.errors()));
    seeds.push_back(Print(*program));
  }
  return seeds;
}

}  // namespace

extern const Target program_text;
const Target program_text = {.run = RunProgramText,
                             .seeds = ProgramTextSeeds,
                             .most_bytes = 8192,
                             .words = {"f32", "let "}};

}  // namespace mxc::fuzz
