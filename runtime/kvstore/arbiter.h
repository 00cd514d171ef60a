// SPDX-License-Identifier: Apache-2.0
// Which process of a pair (pair.h) is the server: one place decides, whatever
// processes, clocks and the network do. It knows nothing but births: numbers
// that differ from start to start of a process, and are never 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mxc::kvstore {

struct Term {
  uint64_t number = 0;   // 0: the pair has not begun
  uint64_t primary = 0;  // 0 in a later term: what the pair knew is lost
  uint64_t backup = 0;   // 0: the primary is alone
};

// What a process says to the arbiter; it may say it more than once.
struct Proposal {
  uint64_t birth = 0;  // its own
  uint64_t after = 0;  // the term that it knows
  // It as the primary of the next term, and its backup. No primary: it wants to
  // hear of the current one.
  uint64_t primary = 0, backup = 0;

  bool operator==(const Proposal&) const = default;
};

class Arbiter {
 public:
  // What a process says that is at one of the pair's two places, 0 or 1, however
  // late: the current term. Of the proposals of a term's processes the first one
  // makes the next.
  const Term& Hear(size_t which, const Proposal& proposal);

  const Term& term() const { return term_; }
  // Returns whether nobody else has what the pair knows.
  bool Needs(size_t which) const {
    return term_.primary != 0 && term_.backup == 0 && primary_ == which;
  }

 private:
  bool Takes(size_t which, const Proposal& proposal) const;
  void Begin(const Term& term);
  void NoteDeath(size_t which, const Proposal& proposal);

  Term term_;
  size_t primary_ = 0;             // its place
  std::array<bool, 2> dead_ = {};  // of the term's processes, by place
};

}  // namespace mxc::kvstore
