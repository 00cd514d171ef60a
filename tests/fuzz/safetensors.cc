// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/safetensors.h"

#include "runtime/formats/safetensors.h"
#include "tests/fuzz/arrays.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunSafetensors(Bytes input) {
  const auto arrays = train::ParseSafetensors(input);
  if (!arrays.ok()) return;
  for (const runtime::NamedArray& array : *arrays) Touch(array.array.bytes());
}

std::vector<std::string> SafetensorsSeeds() {
  return SmallFiles(&runtime::WriteSafetensors);
}

}  // namespace

extern const Target safetensors;
const Target safetensors = {
    .run = RunSafetensors,
    .seeds = SafetensorsSeeds,
    .most_bytes = 512,
    .words = {"\"dtype\":", "\"shape\":", "\"data_offsets\":",
              "\"__metadata__\":", "\"F32\"", "\"U8\"", "[2,3]", "[0,24]",
              "18446744073709551615"}};

}  // namespace mxc::fuzz
