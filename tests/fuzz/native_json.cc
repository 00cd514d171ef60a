// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
  const auto arrays = std::make_shared<ParameterArrays>();
  for (const char* name : {"w", "a.v", "x.0_bias", "{w}"}) {
    auto array = runtime::Array::Allocate(runtime::ElementType::kF32, {3, 2});
    std::ranges::fill(array->bytes(), std::byte{0});
    arrays->push_back({name, *array});
  }
  (void)UnderOwnNames(*model, arrays);
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
