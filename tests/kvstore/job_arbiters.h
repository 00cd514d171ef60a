// SPDX-License-Identifier: Apache-2.0
// The arbiters of a simulated job's pairs. Words to them and back take their
// time, and wait where a process is cut off or killed, or the arbiters stand
// still themselves; each process's come in order.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "runtime/kvstore/arbiter.h"
#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

class Arbiters {
 public:
  // Process p is of pair p mod `pairs`; a word is under way for up to `longest`.
  Arbiters(size_t pairs, uint64_t seed, Time longest)
      : longest_(longest),
        random_(seed),
        arbiters_(pairs),
        places_(2 * pairs) {}

  // A process says it.
  void Say(size_t process, const Proposal& proposal, Time now) {
    Place& place = places_[process];
    place.birth = proposal.birth;
    place.up.emplace_back(ArrivalAt(place, now), proposal);
  }
  // It is cut off.
  void Hold(size_t process, Time until) { places_[process].held = until; }
  // It is killed: nothing comes of what is under way from it or to it.
  void Forget(size_t process) {
    places_[process].birth = 0;
    places_[process].up.clear();
    places_[process].down.clear();
  }
  void StandStill(Time until) { stands_until_ = until; }

  // Whether what anybody has heard is known to the process, as it says it is.
  bool IsIn(size_t process) const {
    const Term& term = arbiters_[process % arbiters_.size()].term();
    const uint64_t birth = places_[process].birth;
    return birth != 0 && (birth == term.primary || birth == term.backup);
  }

  // What has come by now; `hear` is false where a process cannot. When more
  // comes.
  Time Deliver(Time now, const std::function<bool(size_t, const Term&)>& hear) {
    Time next = now + kSecond;
    for (size_t process = 0; process < places_.size(); ++process) {
      auto& up = places_[process].up;
      for (; !up.empty() && up.front().first <= now && now >= stands_until_;
           up.pop_front()) {
        Answer(process, up.front().second, now);
      }
      auto& down = places_[process].down;
      while (!down.empty() && down.front().first <= now &&
             hear(process, down.front().second)) {
        down.pop_front();
      }
      if (!up.empty()) next = std::min(next, up.front().first);
      if (!down.empty()) next = std::min(next, down.front().first);
    }
    return std::max(next, now + kSecond / 1000);
  }

 private:
  struct Place {
    uint64_t birth = 0;  // as its process has said
    Time held = 0, newest = 0;
    std::deque<std::pair<Time, Proposal>> up;
    std::deque<std::pair<Time, Term>> down;
  };

  Time ArrivalAt(Place& place, Time now) {
    const Time delay =
        longest_ == 0 ? 0 : static_cast<Time>(random_() % uint64_t(longest_));
    place.newest = std::max({place.newest, place.held, now + delay});
    return place.newest;
  }
  // Both processes of the pair hear of it.
  void Answer(size_t process, const Proposal& proposal, Time now) {
    const size_t pairs = arbiters_.size();
    const Term term =
        arbiters_[process % pairs].Hear(process / pairs, proposal);
    for (const size_t to : {process, (process + pairs) % (2 * pairs)}) {
      places_[to].down.emplace_back(ArrivalAt(places_[to], now), term);
    }
  }

  const Time longest_;
  Time stands_until_ = 0;
  std::mt19937_64 random_;
  std::vector<Arbiter> arbiters_;
  std::vector<Place> places_;  // by process
};

}  // namespace mxc::kvstore
