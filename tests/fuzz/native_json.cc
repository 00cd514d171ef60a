// SPDX-License-Identifier: Apache-2.0
#include "frontend/frontend.h"
#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunNativeJson(Bytes input) {
  LoadOptions options;
  options.batch = 2;
  options.require_supported = true;
  auto model = LoadText(SourceOf(input), options);
  if (!model.ok()) {
    (void)Render(model.errors());
    return;
  }
  (void)WriteSymbol(model->graph);
  (void)Infers(model->graph);
}

}  // namespace

extern const Target native_json;
const Target native_json = {.run = RunNativeJson,
                            .seeds = NativeNetworks,
                            .most_bytes = 1024,
                            .words = NetworkWords()};

}  // namespace mxc::fuzz
