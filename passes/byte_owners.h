// SPDX-License-Identifier: Apache-2.0
// Which buffers share whose bytes, when these are in use, and how many bytes
// are alive at the fullest moment. A pass lets buffers lie in each other, looks
// at the figures, and may undo what it did.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "ir/program/program.h"
#include "passes/live_bytes.h"

namespace mxc {

// What is known of the buffers that share the bytes of a root.
struct Owned {
  std::vector<int> members;    // the root, and what lies in it
  std::multiset<int> written;  // moments
  int first = -1, last = -1;   // moments of use
  int64_t bytes = 0;           // in the arena

  void Use(int moment);
  bool IsWrittenFrom(int moment) const;
};

class ByteOwners {
 public:
  // `moments`: of each step, ascending; those between them are free.
  ByteOwners(const Program& program, const std::vector<int>& moments);

  const Owned& at(int root) const { return owned_[root]; }
  int64_t LargestLive() const { return live_.Largest(); }

  // A buffer that was appended to the program's.
  void Add(int buffer, int written, int last);
  // The root is not used after `last`.
  void EndUse(int root, int last);
  // `part`, a root, and all that lies in it lie in `root` from now on.
  void Join(int part, int root);

  // The buffers that were joined to others since the last Settle.
  std::vector<int> Joined() const;
  // Takes back all since the last Settle.
  void Undo();
  void Settle();

 private:
  struct Change {
    enum class Kind { kAdded, kEnded, kJoined } kind;
    int buffer;
    int root, first, last;  // of the root, before
  };

  int64_t ArenaBytes(int root) const;
  void CountLive(const Owned& owned, int times);
  void Part(const Change& change);

  const Program& program_;
  std::vector<Owned> owned_;  // by root
  LiveBytes live_;
  std::vector<Change> changes_;  // since the last Settle
};

}  // namespace mxc
