// SPDX-License-Identifier: Apache-2.0
#include "frontend/frontend.h"
#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

// What is written is read back, and written equal.
void ReadBack(const std::string& written) {
  if (WriteSymbol(ReadAgain(written).graph) != written) {
    Wrong("what is written is read otherwise\n" + written);
  }
}

void RunSymbolJson(Bytes input) {
  auto model = LoadText(SourceOf(input), {});
  if (!model.ok()) {
    (void)Render(model.errors());
    return;
  }
  ReadBack(WriteSymbol(model->graph));
  (void)RequireSupported(model->graph);
  if (ExpandSubgraphs(model->graph).ok()) (void)Infers(model->graph);
}

}  // namespace

extern const Target symbol_json;
const Target symbol_json = {.run = RunSymbolJson,
                            .seeds = SymbolNetworks,
                            .most_bytes = 2048,
                            .words = NetworkWords()};

}  // namespace mxc::fuzz
