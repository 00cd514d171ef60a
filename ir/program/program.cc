// SPDX-License-Identifier: Apache-2.0
#include "ir/program/program.h"

#include <algorithm>

namespace mxc {

int64_t Program::ArenaBytesOf(PlaceKind kind) const {
  int64_t bytes = 0;
  for (const ProgramPlace& place : places) {
    if (place.kind == kind && place.arena_bytes > 0) bytes += place.arena_bytes;
  }
  return bytes;
}

Place Program::PlaceFor(PlaceKind kind) {
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].kind == kind) return static_cast<Place>(i);
  }
  places.push_back({kind, planned() ? 0 : -1});
  return static_cast<Place>(places.size() - 1);
}

int Program::Root(int buffer) const {
  while (buffers[buffer].alias_of >= 0) buffer = buffers[buffer].alias_of;
  return buffer;
}

int64_t Program::BytesIntoRoot(int buffer) const {
  int64_t bytes = 0;
  for (; buffers[buffer].alias_of >= 0; buffer = buffers[buffer].alias_of) {
    bytes += buffers[buffer].alias_begin;
  }
  return bytes;
}

std::vector<int> Program::BuffersOf(BufferKind kind) const {
  std::vector<int> found;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].kind == kind) found.push_back(static_cast<int>(i));
  }
  return found;
}

std::vector<bool> ReadBuffers(const Program& program) {
  std::vector<bool> read(program.buffers.size(), false);
  for (const Step& step : program.steps) {
    for (const int b : step.inputs) read[b] = read[program.Root(b)] = true;
  }
  return read;
}

std::vector<LiveRange> LiveRanges(const Program& program) {
  std::vector<LiveRange> ranges(program.buffers.size());
  const auto touch = [&](int buffer, int step) {
    const int root = program.Root(buffer);
    if (program.buffers[root].kind != BufferKind::kInternal) return;
    LiveRange& range = ranges[root];
    if (range.first < 0) range.first = step;
    range.last = std::max(range.last, step);
  };
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) touch(b, static_cast<int>(s));
    for (const int b : program.steps[s].outputs) touch(b, static_cast<int>(s));
  }
  return ranges;
}

}  // namespace mxc
