// SPDX-License-Identifier: Apache-2.0
#include "passes/memory_report.h"

#include <algorithm>

#include "passes/step_readers.h"

namespace mxc {
namespace {

// When each buffer itself, not its root, is first and last named.
std::vector<LiveRange> OwnRanges(const Program& program) {
  std::vector<LiveRange> ranges(program.buffers.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto touch = [&](int buffer) {
      LiveRange& range = ranges[buffer];
      if (range.first < 0) range.first = static_cast<int>(s);
      range.last = static_cast<int>(s);
    };
    std::ranges::for_each(program.steps[s].inputs, touch);
    std::ranges::for_each(program.steps[s].outputs, touch);
  }
  return ranges;
}

std::string KindOf(const Buffer& buffer) {
  if (buffer.kind == BufferKind::kOutput) return "output";
  return buffer.alias_of >= 0 ? "view" : "internal";
}

bool BytesOverlap(const Buffer& a, const Buffer& b) {
  return a.offset >= 0 && b.offset >= 0 && a.offset < b.offset + b.bytes() &&
         b.offset < a.offset + a.bytes();
}

std::vector<std::string> Sharing(const Program& program, int buffer) {
  std::vector<std::string> names;
  const Buffer& root = program.buffers[program.Root(buffer)];
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& other = program.buffers[i];
    if (static_cast<int>(i) == buffer) continue;
    if (other.kind != BufferKind::kInternal) continue;
    const Buffer& other_root =
        program.buffers[program.Root(static_cast<int>(i))];
    if (BytesOverlap(root, other_root)) names.push_back(other.name);
  }
  return names;
}

std::vector<MemoryReport::Entry> Entries(const Program& program) {
  const std::vector<LiveRange> ranges = OwnRanges(program);
  std::vector<MemoryReport::Entry> entries;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (buffer.kind != BufferKind::kInternal &&
        buffer.kind != BufferKind::kOutput) {
      continue;
    }
    const int index = static_cast<int>(i);
    MemoryReport::Entry entry;
    entry.name = buffer.name;
    entry.type = ToString(buffer.type);
    entry.layout = ToString(buffer.layout);
    entry.kind = KindOf(buffer);
    entry.buffer = index;
    entry.offset = program.buffers[program.Root(index)].offset;
    entry.bytes = buffer.bytes();
    entry.first = ranges[i].first;
    entry.last = ranges[i].last;
    entry.shares_with = Sharing(program, index);
    if (buffer.alias_of >= 0) {
      entry.alias_of = program.buffers[buffer.alias_of].name;
    }
    entries.push_back(std::move(entry));
  }
  std::ranges::stable_sort(entries, {}, &MemoryReport::Entry::first);
  return entries;
}

// By buffer: read, and by no other steps than those that update states.
std::vector<bool> Gradients(const Program& program) {
  std::vector<bool> read(program.buffers.size(), false), other = read;
  for (const Step& step : program.steps) {
    const bool update = UpdatesState(program, step);
    for (const int b : step.inputs) {
      const int root = program.Root(b);
      read[root] = true;
      if (!update && !step.view) other[root] = true;
    }
  }
  for (size_t b = 0; b < read.size(); ++b) read[b] = read[b] && !other[b];
  return read;
}

std::vector<int64_t> LiveBytes(const Program& program,
                               const std::vector<bool>& without = {}) {
  std::vector<int64_t> live(program.steps.size(), 0);
  const std::vector<LiveRange> ranges = LiveRanges(program);
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].first < 0 || (!without.empty() && without[i])) continue;
    for (int s = ranges[i].first; s <= ranges[i].last; ++s) {
      live[s] += program.buffers[i].bytes();
    }
  }
  return live;
}

}  // namespace

MemoryReport ReportMemory(const Program& program, int threads) {
  MemoryReport report;
  int64_t outputs = 0;
  for (const Buffer& buffer : program.buffers) {
    switch (buffer.kind) {
      case BufferKind::kOutput:
        outputs += buffer.bytes();
        break;
      case BufferKind::kInput:
        report.input_bytes += buffer.bytes();
        break;
      case BufferKind::kConstant:
        report.constant_bytes += buffer.bytes();
        break;
      case BufferKind::kState:
        report.state_bytes += buffer.bytes();
        break;
      case BufferKind::kInternal:
      case BufferKind::kNextState:
        break;
    }
  }
  for (const Step& step : program.steps) {
    report.workspace_bytes =
        std::max(report.workspace_bytes, step.scratch_bytes * threads);
  }
  report.activation_bytes = program.arena_bytes + outputs;
  for (const int64_t live : LiveBytes(program, Gradients(program))) {
    report.activation_bytes_beside_gradients =
        std::max(report.activation_bytes_beside_gradients, live + outputs);
  }
  report.peak_bytes = report.activation_bytes + report.workspace_bytes;
  report.lower_bound_bytes =
      program.lower_bound_bytes + outputs + report.workspace_bytes;
  report.naive_bytes = program.naive_bytes + outputs + report.workspace_bytes;
  report.buffers = Entries(program);
  report.live_bytes = LiveBytes(program);
  return report;
}

}  // namespace mxc
