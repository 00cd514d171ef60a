// SPDX-License-Identifier: Apache-2.0
#include "frontend/frontend.h"
#include "ir/graph/graph.h"
#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunGraphText(Bytes input) {
  CheckReadsBack(
      input, [](const auto& source) { return ParseGraph(source); },
      [](const Graph& graph) { return Print(graph); });
}

std::vector<std::string> GraphTextSeeds() {
  std::vector<std::string> seeds;
  for (const std::string& text : NativeNetworks()) {
    auto model = LoadText(SourceOf(BytesOf(text)), {});
    if (!model.ok()) Wrong(Render(model.errors()));
    seeds.push_back(Print(model->graph));
    (void)InferTypes(model->graph, /*complete=*/true);
    seeds.push_back(Print(model->graph));
  }
  return seeds;
}

}  // namespace

extern const Target graph_text;
const Target graph_text = {.run = RunGraphText,
                           .seeds = GraphTextSeeds,
                           .most_bytes = 1024,
                           .words = {"f32[", "?", "input ", "parameter ",
                                     "state ", "constant ", "%", "(", ")"}};

}  // namespace mxc::fuzz
