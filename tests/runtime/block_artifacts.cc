// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/block_artifacts.h"

namespace mxc::test {
namespace {

constexpr int64_t kRow = 4 * kWide;  // bytes

TestBuffer Window(const char* name, int root, uint32_t loop, uint64_t offset,
                  int64_t advance, uint32_t period = 0, uint32_t shift = 0) {
  TestBuffer window = {name, {kWide}, MXC_BUFFER_WINDOW, offset, root};
  window.loop = loop;
  window.advance = advance;
  window.period = period;
  window.shift = shift;
  return window;
}

TestBuffer Number(const char* name, mxc_buffer_kind kind, uint64_t offset = 0) {
  TestBuffer number = {name, {1}, kind, offset};
  number.dtype = 6;
  return number;
}

}  // namespace

TestArtifact ScanArtifact() {
  TestEntry e;
  e.buffers = {{"xs", {kTurns, kWide}, MXC_BUFFER_INPUT},
               Number("count", MXC_BUFFER_INPUT),
               {"first", {kWide}, MXC_BUFFER_WEIGHT},
               {"h", {2, kWide}, MXC_BUFFER_INTERNAL},
               {"h first", {kWide}, MXC_BUFFER_ALIAS, 0, 3},
               Window("x", 0, 1, 0, kRow),
               Window("h read", 3, 1, 0, kRow, 2, 0),
               Window("h written", 3, 1, 0, kRow, 2, 1),
               {"ys", {kTurns, kWide}, MXC_BUFFER_OUTPUT},
               Window("y", 8, 1, 0, kRow),
               {"last", {kWide}, MXC_BUFFER_OUTPUT},
               Number("below", MXC_BUFFER_INTERNAL, 2 * kRow)};
  e.steps = {
      {"begin", kCopy, {2}, {4}, 64},
      Repeat(3, kTurns, {1, 11}, MXC_REPEAT_COUNT | MXC_REPEAT_CONDITION),
      {"add", kAdd, {6, 5}, {7}, 64},
      {"scale", kScale, {7}, {9}, 64},
      {"below", kBelow, {7}, {11}, 1, 0, 64},
      {"end", kCopy, {6}, {10}, 64}};
  e.inputs = {0, 1};
  e.outputs = {8, 10};
  e.arena_bytes = 2 * kRow + 64;
  TestArtifact artifact;
  artifact.weights.resize(kWide);
  for (int64_t i = 0; i < kWide; ++i) {
    artifact.weights[i] = static_cast<float>(i);
  }
  artifact.entries = {e};
  return artifact;
}

TestArtifact NestedArtifact() {
  TestEntry e;
  e.buffers = {{"x", {kOuter, kInner, kWide}, MXC_BUFFER_INPUT},
               {"flags", {kOuter, kWide}, MXC_BUFFER_INPUT},
               {"sum", {2, kWide}, MXC_BUFFER_INTERNAL},
               {"zero", {kWide}, MXC_BUFFER_WEIGHT},
               {"sums", {kOuter, kWide}, MXC_BUFFER_OUTPUT},
               Number("below", MXC_BUFFER_INTERNAL, 2 * kRow),
               Window("x[r]", 0, 0, 0, kInner * kRow),
               Window("flag", 1, 0, 0, kRow),
               Window("sums[r]", 4, 0, 0, kRow),
               Window("x[r][c]", 6, 4, 0, kRow),
               Window("sum read", 2, 4, 0, kRow, 2, 0),
               Window("sum written", 2, 4, 0, kRow, 2, 1),
               {"sum first", {kWide}, MXC_BUFFER_ALIAS, 0, 2},
               {"x[r][0]", {kWide}, MXC_BUFFER_ALIAS, 0, 6}};
  e.buffers[6].dims = {kInner, kWide};
  e.steps = {Repeat(7, kOuter),
             {"below", kBelow, {7}, {5}, 1, 0, 64},
             Branch(5, /*body=*/4, /*other=*/1),
             {"begin", kCopy, {3}, {12}, 64},
             Repeat(1, kInner),
             {"add", kAdd, {10, 9}, {11}, 64},
             {"end", kCopy, {10}, {8}, 64},
             {"first", kCopy, {13}, {8}, 64, 0, 64}};
  e.inputs = {0, 1};
  e.outputs = {4};
  e.arena_bytes = 2 * kRow + 64;
  TestArtifact artifact;
  artifact.weights.resize(kWide);
  artifact.entries = {e};
  return artifact;
}

TestArtifact TravelArtifact() {
  TestEntry e;
  e.buffers = {{"data", {kWide}, MXC_BUFFER_INPUT},
               {"a", {kWide}, MXC_BUFFER_INTERNAL, 0},
               {"a there", {kWide}, MXC_BUFFER_INTERNAL, 0},
               {"mirrored there", {kWide}, MXC_BUFFER_INTERNAL, kRow},
               {"work", {64}, MXC_BUFFER_INTERNAL, 2 * kRow},
               {"sum", {kWide}, MXC_BUFFER_INTERNAL, kRow},
               {"mirrored", {kWide}, MXC_BUFFER_INTERNAL, 2 * kRow},
               {"result", {kWide}, MXC_BUFFER_OUTPUT},
               {"bias there", {kWide}, MXC_BUFFER_WEIGHT, 256},
               {"bias", {kWide}, MXC_BUFFER_INTERNAL, 3 * kRow}};
  for (const int there : {2, 3, 4, 8}) {
    e.buffers[there].place = MXC_PLACE_HOST;
  }
  e.buffers[4].dtype = 3;
  e.steps = {{"scale", kScale, {0}, {1}, 64},
             Start(1),
             Copy(1, 2),
             Copy(8, 9),
             {"add", kAdd, {1, 9}, {5}, 64},
             Wait(1),
             Call(0, {2}, {3, 4}, "", MXC_CALL_WORKSPACE),
             Copy(3, 6),
             {"add", kAdd, {5, 6}, {7}, 64}};
  e.steps[6].place = MXC_PLACE_HOST;
  e.inputs = {0};
  e.outputs = {7};
  e.arena_bytes = 4 * kRow;
  e.host_arena_bytes = 2 * kRow + 64;
  TestArtifact artifact;
  artifact.imports = {{"mxc_test_mirror", 1}};
  artifact.weights.resize(64 + kWide);
  for (size_t i = 0; i < artifact.weights.size(); ++i) {
    artifact.weights[i] = 0.25f * static_cast<float>(i);
  }
  artifact.entries = {e};
  return artifact;
}

}  // namespace mxc::test
