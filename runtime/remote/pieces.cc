// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/pieces.h"

#include <algorithm>

namespace mxc::remote {

bool Pieces::AreThere(Span span) const {
  for (uint64_t i = span.first; i < span.end; ++i) {
    if (states_[i] != State::kThere) return false;
  }
  return true;
}

uint64_t Pieces::Want(Span span) {
  uint64_t wanted = 0;
  for (uint64_t i = span.first; i < span.end; ++i) {
    if (states_[i] != State::kAbsent) continue;
    states_[i] = State::kWanted;
    ++wanted;
  }
  return wanted;
}

uint64_t Pieces::FirstWanted(Span span) const {
  uint64_t i = span.first;
  while (i < span.end && states_[i] != State::kWanted) ++i;
  return i;
}

Span Pieces::Take(uint64_t first, Span limits, uint64_t most, uint64_t gap) {
  const uint64_t last = std::min(limits.end, first + most);
  uint64_t end = first + 1;
  for (uint64_t i = end; i < last && i - end <= gap; ++i) {
    if (states_[i] == State::kWanted) {
      end = i + 1;
    } else if (states_[i] != State::kAbsent) {
      break;
    }
  }
  TakeAll({first, end});
  return {first, end};
}

void Pieces::TakeAll(Span span) {
  for (uint64_t i = span.first; i < span.end; ++i) {
    if (states_[i] > State::kWanted) continue;
    states_[i] = State::kAsked;
    unread_ += read_[i] ? 0 : 1;
  }
}

Span Pieces::Absent(uint64_t from, Span limits, uint64_t most) const {
  uint64_t first = std::max(from, limits.first);
  while (first < limits.end && states_[first] > State::kWanted) ++first;
  uint64_t end = first;
  while (end < limits.end && end - first < most &&
         states_[end] <= State::kWanted) {
    ++end;
  }
  return {first, end};
}

bool Pieces::Read(Span span) {
  bool first = false;
  for (uint64_t i = span.first; i < span.end; ++i) {
    if (read_[i]) continue;
    read_[i] = first = true;
    unread_ -= states_[i] > State::kWanted ? 1 : 0;
  }
  return first;
}

void Pieces::Put(Span span) {
  for (uint64_t i = span.first; i < span.end; ++i) {
    there_ += states_[i] != State::kThere ? 1 : 0;
    states_[i] = State::kThere;
  }
}

}  // namespace mxc::remote
