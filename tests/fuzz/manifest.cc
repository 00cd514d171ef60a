// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/manifest.h"

#include "runtime/data/label_names.h"
#include "tests/fuzz/artifacts.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunManifest(Bytes input) {
  for (const char* key : {"", "data", "label_names", "carry", "contractions"}) {
    for (const auto& value : runtime::ManifestValues(TextOf(input), key)) {
      (void)data::ParseLabelNames(value);
      (void)runtime::KernelsOf(value, 4);
      (void)runtime::RowsOf(value, 4);
    }
  }
}

std::vector<std::string> ManifestSeeds() {
  return {kManifest, "data: a\ndata: b"};
}

}  // namespace

extern const Target manifest;
const Target manifest = {
    .run = RunManifest,
    .seeds = ManifestSeeds,
    .most_bytes = 128,
    .words = {"data: ", "label_names: ", "carry: ", ": ", "\n", "\\x20"}};

}  // namespace mxc::fuzz
