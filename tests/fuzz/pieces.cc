// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/pieces.h"

#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunPieces(Bytes input) {
  const auto index = train::ParsePieceIndex(
      {reinterpret_cast<const char*>(input.data()), input.size()});
  if (!index.ok()) return;
  for (const train::PiecedArray& array : index->arrays) {
    for (const train::ArrayPiece& piece : array.pieces) {
      Touch(std::as_bytes(std::span(&piece, 1)));
    }
  }
}

std::vector<std::string> PiecesSeeds() {
  return {R"({"format": "mxc-pieces 1", "files": [{"name": "a.safetensors",)"
          R"("xxh3": "0123456789abcdef"}], "arrays": [{"name": "arg:w",)"
          R"("dtype": "F32", "shape": [2, 3], "pieces": [{"file": 0, "at": 8,)"
          R"("begin": 0, "count": 6}]}]})"};
}

}  // namespace

extern const Target pieces;
const Target pieces = {
    .run = RunPieces,
    .seeds = PiecesSeeds,
    .most_bytes = 512,
    .words = {"\"pieces\":", "\"count\":", "\"begin\":", "\"shape\":",
              "18446744073709551615", "[0]", "\"file\":"}};

}  // namespace mxc::fuzz
