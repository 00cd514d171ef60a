// SPDX-License-Identifier: Apache-2.0
#include "passes/byte_owners.h"
#include "ir/program/memory.h"

#include <algorithm>

namespace mxc {

void Owned::Use(int moment) {
  first = first < 0 ? moment : std::min(first, moment);
  last = std::max(last, moment);
}

bool Owned::IsWrittenFrom(int moment) const {
  return written.lower_bound(moment) != written.end();
}

ByteOwners::ByteOwners(const Program& program, const std::vector<int>& moments)
    : program_(program),
      owned_(program.buffers.size()),
      live_(moments.empty() ? 0 : moments.back() + 1) {
  for (size_t b = 0; b < owned_.size(); ++b) {
    const int buffer = static_cast<int>(b);
    owned_[program.Root(buffer)].members.push_back(buffer);
  }
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    for (const int b : step.inputs) owned_[program.Root(b)].Use(moments[s]);
    // A view that lies in what it views writes nothing.
    const bool writes = !step.view || program.Root(step.inputs[0]) !=
                                          program.Root(step.outputs[0]);
    for (const int b : step.outputs) {
      Owned& owned = owned_[program.Root(b)];
      owned.Use(moments[s]);
      if (writes) owned.written.insert(moments[s]);
    }
  }
  for (size_t b = 0; b < owned_.size(); ++b) {
    owned_[b].bytes = ArenaBytes(static_cast<int>(b));
    CountLive(owned_[b], 1);
  }
}

void ByteOwners::Add(int buffer, int written, int last) {
  Owned& added = owned_.emplace_back();
  added.members = {buffer};
  added.written = {written};
  added.Use(written);
  added.Use(last);
  added.bytes = ArenaBytes(buffer);
  CountLive(added, 1);
  changes_.push_back({Change::Kind::kAdded, buffer, buffer, -1, -1});
}

void ByteOwners::EndUse(int root, int last) {
  Owned& owned = owned_[root];
  changes_.push_back(
      {Change::Kind::kEnded, root, root, owned.first, owned.last});
  CountLive(owned, -1);
  owned.last = last;
  CountLive(owned, 1);
}

void ByteOwners::Join(int part, int root) {
  const Owned& from = owned_[part];
  Owned& to = owned_[root];
  changes_.push_back({Change::Kind::kJoined, part, root, to.first, to.last});
  CountLive(from, -1);
  CountLive(to, -1);
  to.members.insert(to.members.end(), from.members.begin(), from.members.end());
  to.written.insert(from.written.begin(), from.written.end());
  if (from.first >= 0) {
    to.Use(from.first);
    to.Use(from.last);
  }
  CountLive(to, 1);
}

std::vector<int> ByteOwners::Joined() const {
  std::vector<int> joined;
  for (const Change& change : changes_) {
    if (change.kind != Change::Kind::kJoined) continue;
    const std::vector<int>& members = owned_[change.buffer].members;
    joined.insert(joined.end(), members.begin(), members.end());
  }
  return joined;
}

void ByteOwners::Undo() {
  for (; !changes_.empty(); changes_.pop_back()) {
    const Change& change = changes_.back();
    Owned& root = owned_[change.root];
    CountLive(root, -1);
    switch (change.kind) {
      case Change::Kind::kAdded:
        owned_.pop_back();
        continue;
      case Change::Kind::kJoined:
        Part(change);
        break;
      case Change::Kind::kEnded:
        break;
    }
    root.first = change.first;
    root.last = change.last;
    CountLive(root, 1);
  }
}

void ByteOwners::Settle() {
  for (const Change& change : changes_) {
    if (change.kind == Change::Kind::kJoined) owned_[change.buffer] = {};
  }
  changes_.clear();
}

// A part that was joined still knows what it owned.
void ByteOwners::Part(const Change& change) {
  const Owned& from = owned_[change.buffer];
  Owned& to = owned_[change.root];
  to.members.resize(to.members.size() - from.members.size());
  for (const int moment : from.written) {
    to.written.erase(to.written.find(moment));
  }
  CountLive(from, 1);
}

int64_t ByteOwners::ArenaBytes(int root) const {
  const Buffer& buffer = program_.buffers[root];
  if (buffer.kind != BufferKind::kInternal || buffer.alias_of >= 0 ||
      buffer.place != kKernelPlace) {
    return 0;
  }
  return AlignedBytes(buffer.bytes());
}

void ByteOwners::CountLive(const Owned& owned, int times) {
  if (owned.first < 0 || owned.bytes == 0) return;
  live_.Add(owned.first, owned.last, times * owned.bytes);
}

}  // namespace mxc
