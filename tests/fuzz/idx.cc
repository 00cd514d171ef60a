// SPDX-License-Identifier: Apache-2.0
// MNIST's files: pictures, and labels behind them in the input.
#include <algorithm>

#include "tests/fuzz/bytes.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunIdx(Bytes input) {
  static MemoryFile images, labels;
  const auto name = [](const std::string& path) {
    return path.substr(path.rfind('/') + 1);
  };
  const size_t choice = TakeChoice(&input, 256);
  const size_t cut = std::min(choice, input.size());
  const std::string image = name(images.Hold(input.first(cut)));
  const std::string label = name(labels.Hold(input.subspan(cut)));
  ReadSamples("mnist:/proc/self/fd", {{"image", image}, {"label", label}});
}

std::vector<std::string> IdxSeeds() {
  const auto u32 = [](uint32_t v) { return Number(__builtin_bswap32(v)); };
  const std::string images =
      u32(0x803) + u32(3) + u32(2) + u32(2) + std::string(12, '\7');
  const std::string labels = u32(0x801) + u32(3) + "\1\2\3";
  return {static_cast<char>(images.size()) + images + labels};
}

}  // namespace

extern const Target idx;
const Target idx = {.run = RunIdx,
                    .seeds = IdxSeeds,
                    .most_bytes = 128,
                    .words = {"\x1f\x8b\x08"}};

}  // namespace mxc::fuzz
