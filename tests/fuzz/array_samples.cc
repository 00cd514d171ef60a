// SPDX-License-Identifier: Apache-2.0
// Arrays of .npy files, as training reads them.
#include "tests/fuzz/arrays.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

const data::Settings kArrayWays[] = {
    {}, {{"scale", "0.5"}, {"shuffle", "1"}}, {{"last_batch", "discard"}}};

void RunArraySamples(Bytes input) { ReadSampleFile("npy:", kArrayWays, input); }

std::vector<std::string> ArraySamplesSeeds() {
  return InEveryWay(kArrayWays, SmallNpyFiles());
}

}  // namespace

extern const Target array_samples;
const Target array_samples = {.run = RunArraySamples,
                              .seeds = ArraySamplesSeeds,
                              .most_bytes = 256,
                              .words = {"'<f4'", "'|u1'", "'>f8'", "(2, 3)"}};

}  // namespace mxc::fuzz
