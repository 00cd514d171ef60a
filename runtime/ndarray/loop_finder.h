// SPDX-License-Identifier: Apache-2.0
// Notices loops: calls of one thread that come again, with what they write. A
// loop is cut where least of what it computes is needed later, which in training
// is behind the update, and wherever somebody waits for a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/ndarray/array.h"
#include "runtime/ndarray/compiled_call.h"

namespace mxc::runtime {

// Calls that follow one another, by CompiledCall::number.
struct LoopPart {
  std::vector<uint64_t> calls;
  // How many calls of the next turn are to come before it is known which of its
  // values nobody will ask for: they are overwritten unread.
  size_t ahead = 1;
  uint64_t nanoseconds = 0;  // that the calls take, as the model has it
};

// For one thread. It costs next to nothing until something is written again.
class LoopFinder {
 public:
  static LoopFinder& Here();  // the calling thread's

  // A call, before its writes are counted. The loop that it closes; mostly
  // empty.
  std::vector<LoopPart> Note(const CompiledCall& call, ArrayRefs inputs,
                             ArrayRefs outputs);
  // Somebody waits for the chunk, or, null, for all; or does what can be part of
  // no program.
  void NoteWait(const Chunk* chunk);
  void Forget();

 private:
  enum class Access : uint8_t { kRead, kUpdate, kWrite, kFirstWrite };
  // Chunks by Chunk::id: the memory of one that is gone may be another's.
  struct Use {
    uint64_t chunk;  // 0: all
    uint64_t bytes;
    Access access;
    uint64_t written_at;  // before
  };
  struct Event {
    uint64_t call;  // its number; 0: somebody waits for the chunk of its use
    size_t first_use;
    uint64_t nanoseconds;  // of the call
  };
  struct Anchor {
    uint64_t call;
    uint64_t written;  // chunk
    friend bool operator==(const Anchor&, const Anchor&) = default;
  };
  struct AnchorHash {
    size_t operator()(const Anchor& anchor) const {
      return std::hash<uint64_t>()(anchor.written) * 31 + anchor.call;
    }
  };
  struct Last {
    size_t event;
    size_t turn = 0;  // events since the one before; 0: there was none
  };
  class Turn;

  static Use UseOf(const Chunk& chunk, Access access);
  // Of the loop whose turn begins there.
  std::vector<LoopPart> Parts(size_t begin) const;
  std::span<const Use> UsesOf(size_t event) const;

  static constexpr size_t kMostEvents = 4096;

  uint64_t now_ = 0;  // of the last event, noted or not
  std::vector<Event> events_;
  std::vector<Use> uses_;
  // Where a call that writes what was written before came last.
  std::unordered_map<Anchor, Last, AnchorHash> anchors_;
  Last told_ = {};
};

}  // namespace mxc::runtime
