// SPDX-License-Identifier: Apache-2.0
// Which pieces of a file are there, on their way, or wanted, and which of them
// somebody has read.
#pragma once

#include <cstdint>
#include <vector>

namespace mxc::remote {

// Pieces [first, end).
struct Span {
  uint64_t first = 0, end = 0;

  uint64_t count() const { return end - first; }
};

class Pieces {
 public:
  explicit Pieces(uint64_t count) : states_(count), read_(count) {}

  uint64_t count() const { return states_.size(); }
  bool all_there() const { return there_ == states_.size(); }
  bool AreThere(Span span) const;
  // Those that are there or on their way, and that nobody has read.
  uint64_t unread() const { return unread_; }
  // Returns whether some of them are read for the first time.
  bool Read(Span span);

  // What is absent is wanted from now on. Returns how many pieces that are.
  uint64_t Want(Span span);
  // The first piece of the span that is wanted and not asked for; its end: none.
  uint64_t FirstWanted(Span span) const;
  // That piece, and those behind it within `limits` that are wanted, too, at most
  // `most`: they are asked for now. Gaps of up to `gap` absent pieces between
  // wanted ones are taken along.
  Span Take(uint64_t first, Span limits, uint64_t most, uint64_t gap);
  // All of a span, whatever is wanted of it.
  void TakeAll(Span span);
  // Pieces within `limits` that are not asked for, in a row: the first ones from
  // `from` on, at most `most`. Empty: there are none.
  Span Absent(uint64_t from, Span limits, uint64_t most) const;
  void Put(Span span);

 private:
  enum class State : uint8_t { kAbsent, kWanted, kAsked, kThere };

  std::vector<State> states_;
  std::vector<bool> read_;
  uint64_t there_ = 0, unread_ = 0;
};

}  // namespace mxc::remote
