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
  if (events_.empty() && !is_anchor) return {};
  if (events_.size() == kMostEvents) Forget();
  const size_t event = events_.size();
  events_.push_back({call.number(), uses_.size()});
  for (const NDArray* input : inputs) {
    uses_.push_back(
        {input->chunk()->id(), input->chunk()->bytes(), Access::kRead});
  }
  for (const NDArray* output : outputs) {
    const bool whole = output->AccessToWrite() == runtime::Access::kWrite;
    const bool first = output->chunk()->writes() == 0;
    uses_.push_back({output->chunk()->id(), output->chunk()->bytes(),
                     !whole  ? Access::kUpdate
                     : first ? Access::kFirstWrite
                             : Access::kWrite});
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

void LoopFinder::NoteWait(const Chunk* chunk) {
  if (events_.empty() || events_.size() == kMostEvents) return;
  events_.push_back({0, uses_.size()});
  uses_.push_back({chunk == nullptr ? 0 : chunk->id(), 0, Access::kRead});
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
    for (size_t i = 0; i < size_; ++i) {
      const size_t at = (cut + i) % size_;
      if (NumberAt(at) != 0) {
        parts.back().calls.push_back(NumberAt(at));
        for (const Use& use : UsesAt(at)) used.insert(use.chunk);
        continue;
      }
      const uint64_t chunk = UsesAt(at)[0].chunk;
      if (used.empty() || (chunk != 0 && !used.contains(chunk))) continue;
      parts.emplace_back();
      used.clear();
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
  bool IsWait(size_t at) const { return NumberAt(at) == 0; }

  // What a turn needs of a value that it also computes is alive from there to
  // the last that reads it; the cut is where fewest bytes are.
  size_t BestCut() const {
    struct Seen {
      size_t first, last;
      bool is_needed, is_written;  // by the first use; by any
      uint64_t bytes;
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
        const auto [found, is_new] =
            seen.try_emplace(use.chunk, Seen{at, at, needed, false, use.bytes});
        Seen& it = found->second;
        if (!is_new && needed && it.last != at) keep(it.last, at, it.bytes);
        it.last = at;
        it.is_written |= use.access != Access::kRead;
      }
    }
    for (const auto& [chunk, it] : seen) {
      if (!it.is_written || !it.is_needed) continue;
      keep(it.last, size_, it.bytes);  // to the end of the turn, …
      change[0] += it.bytes;           // … and from the next one's begin
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
