// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/loop_finder.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

namespace mxc::runtime {
namespace {

// A pointer, which outlives what is destroyed with its thread: objects of the
// process are destroyed after the main thread's, and may wait for arrays then.
thread_local LoopFinder* here = nullptr;

struct OwnerOfHere {
  ~OwnerOfHere() { delete std::exchange(here, nullptr); }
};

}  // namespace

LoopFinder& LoopFinder::Here() {
  if (here == nullptr) {
    thread_local const OwnerOfHere owner;
    here = new LoopFinder;
  }
  return *here;
}

void LoopFinder::Forget() {
  events_.clear();
  uses_.clear();
  anchors_.clear();
  told_ = {};
}

std::vector<LoopPart> LoopFinder::Note(const CompiledCall& call,
                                       ArrayRefs inputs, ArrayRefs outputs) {
  const auto old = std::ranges::find_if(outputs, [](const NDArray* output) {
    return output->chunk()->writes() > 0;
  });
  const bool is_anchor = old != outputs.end();
  ++now_;
  if (events_.empty() && !is_anchor) {
    for (const NDArray* output : outputs) output->chunk()->SetWrittenAt(now_);
    return {};
  }
  if (events_.size() == kMostEvents) Forget();
  const size_t event = events_.size();
  events_.push_back({call.number(), uses_.size(), call.nanoseconds()});
  for (const NDArray* input : inputs) {
    uses_.push_back(UseOf(*input->chunk(), Access::kRead));
  }
  for (const NDArray* output : outputs) {
    const bool whole = output->AccessToWrite() == runtime::Access::kWrite;
    const bool first = output->chunk()->writes() == 0;
    uses_.push_back(UseOf(*output->chunk(), !whole  ? Access::kUpdate
                                            : first ? Access::kFirstWrite
                                                    : Access::kWrite));
    output->chunk()->SetWrittenAt(now_);
  }
  if (!is_anchor) return {};
  const auto [found, is_new] =
      anchors_.try_emplace({call.number(), (*old)->chunk()->id()}, Last{event});
  if (is_new) return {};
  Last& last = found->second;
  const size_t turn = event - std::exchange(last.event, event);
  // The first turn may do more than the next ones, and is told by another length.
  if (std::exchange(last.turn, turn) == turn || turn < 2) return {};
  // Of several anchors the first one tells.
  if (told_.turn == turn && event - told_.event < turn) return {};
  told_ = {event, turn};
  return Parts(event + 1 - turn);
}

LoopFinder::Use LoopFinder::UseOf(const Chunk& chunk, Access access) {
  return {chunk.id(), chunk.bytes(), access, chunk.written_at()};
}

void LoopFinder::NoteWait(const Chunk* chunk) {
  if (events_.size() == kMostEvents) return;
  ++now_;
  if (events_.empty()) return;
  events_.push_back({0, uses_.size(), 0});
  uses_.push_back(chunk == nullptr ? Use{0, 0, Access::kRead, 0}
                                   : UseOf(*chunk, Access::kRead));
}

std::span<const LoopFinder::Use> LoopFinder::UsesOf(size_t event) const {
  const size_t end =
      event + 1 < events_.size() ? events_[event + 1].first_use : uses_.size();
  return std::span(uses_).subspan(events_[event].first_use,
                                  end - events_[event].first_use);
}

// The events from `begin` to the last, which come again and again.
class LoopFinder::Turn {
 public:
  Turn(const LoopFinder& finder, size_t begin)
      : finder_(finder), begin_(begin), size_(finder.events_.size() - begin) {}

  std::vector<LoopPart> Parts() {
    const size_t cut = BestCut();
    std::vector<LoopPart> parts(1);
    std::unordered_set<uint64_t> used;
    size_t part_begin = 0;
    for (size_t i = 0; i < size_; ++i) {
      const size_t at = (cut + i) % size_;
      if (!IsWait(at)) {
        parts.back().calls.push_back(NumberAt(at));
        parts.back().nanoseconds += finder_.events_[begin_ + at].nanoseconds;
        for (const Use& use : UsesAt(at)) used.insert(use.chunk);
        continue;
      }
      const Use& wait = UsesAt(at)[0];
      // Behind the cut it is the turn before whose values are waited for.
      const size_t before = WrittenBefore(wait);
      const size_t written = (before + size_ - cut) % size_;
      const bool is_of_part =
          wait.chunk == 0 || used.contains(wait.chunk) ||
          (before != kNever && part_begin <= written && written < i);
      if (used.empty() || !is_of_part) continue;
      parts.emplace_back();
      used.clear();
      part_begin = i + 1;
    }
    if (parts.size() == 1) parts[0].ahead = AheadFrom(cut);
    // A call alone is a program already.
    std::erase_if(parts, [](const LoopPart& p) { return p.calls.size() < 2; });
    return parts;
  }

 private:
  uint64_t NumberAt(size_t at) const {
    return finder_.events_[begin_ + at].call;
  }
  std::span<const Use> UsesAt(size_t at) const {
    return finder_.UsesOf(begin_ + at);
  }
  static constexpr size_t kNever = SIZE_MAX;
  // At which event the turn before has written it last; kNever: at none.
  size_t WrittenBefore(const Use& use) const {
    const uint64_t begin = finder_.now_ + 1 - 2 * size_;
    const bool is_there = finder_.now_ + 1 >= 2 * size_ &&
                          use.written_at >= begin &&
                          use.written_at < begin + size_;
    return is_there ? use.written_at - begin : kNever;
  }
  bool IsWait(size_t at) const { return NumberAt(at) == 0; }

  // What a turn needs of a value that it also computes is alive from there to
  // the last that reads it; the cut is where fewest bytes are.
  size_t BestCut() const {
    struct Seen {
      size_t first, last;
      bool is_needed, is_written;  // by the first use; by any
      uint64_t bytes;
      size_t before;  // WrittenBefore the first use
    };
    std::vector<uint64_t> change(size_ + 1);  // alive before event 0, 1, …
    // From behind event `from` to event `to`.
    const auto keep = [&](size_t from, size_t to, uint64_t bytes) {
      change[from + 1] += bytes;
      if (to < size_) change[to + 1] -= bytes;
    };
    std::unordered_map<uint64_t, Seen> seen;
    for (size_t at = 0; at < size_; ++at) {
      if (IsWait(at)) continue;
      for (const Use& use : UsesAt(at)) {
        const bool needed = Needs(use.access);
        const auto [found, is_new] = seen.try_emplace(
            use.chunk,
            Seen{at, at, needed, false, use.bytes, WrittenBefore(use)});
        Seen& it = found->second;
        if (!is_new && needed && it.last != at) keep(it.last, at, it.bytes);
        it.last = at;
        it.is_written |= use.access != Access::kRead;
      }
    }
    for (const auto& [chunk, it] : seen) {
      if (!it.is_needed) continue;
      if (!it.is_written && it.before == kNever) continue;
      // To the end of the turn: what this one only reads, of another chunk each
      // turn, as the turn before did; …
      keep(it.is_written ? it.last : it.before, size_, it.bytes);
      change[0] += it.bytes;  // … and from the next one's begin
      change[it.first + 1] -= it.bytes;
    }
    size_t best = 0;
    uint64_t alive = 0, least = UINT64_MAX;
    for (size_t cut = 0; cut < size_; ++cut) {
      alive += change[cut];
      if (alive < least) {
        least = alive;
        best = cut;
      }
    }
    return best;
  }

  // Until all is overwritten that a turn leaves and the next one does not read.
  size_t AheadFrom(size_t cut) const {
    std::unordered_set<uint64_t> used;
    size_t ahead = 1, calls = 0;
    for (size_t i = 0; i < size_; ++i) {
      const size_t at = (cut + i) % size_;
      if (IsWait(at)) continue;
      ++calls;
      for (const Use& use : UsesAt(at)) {
        if (used.insert(use.chunk).second && use.access == Access::kWrite) {
          ahead = calls;
        }
      }
    }
    return std::min(ahead, calls - 1);
  }

  static bool Needs(Access access) {
    return access == Access::kRead || access == Access::kUpdate;
  }

  const LoopFinder& finder_;
  const size_t begin_, size_;
};

std::vector<LoopPart> LoopFinder::Parts(size_t begin) const {
  return Turn(*this, begin).Parts();
}

}  // namespace mxc::runtime
