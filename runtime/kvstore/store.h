// SPDX-License-Identifier: Apache-2.0
// What a server decides, without connections, threads or clocks: which push
// counts, when a key is updated, and who hears of it. A push has an identity,
// (worker, key, seq), and changes a value at most once, however often it comes.
//
// In sync mode the gradients of a round are added in the order of the workers'
// ranks, so a value has the same bytes whatever came first, and for any number
// of servers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/kvstore/body.h"
#include "runtime/kvstore/changes.h"
#include "runtime/kvstore/gathering.h"
#include "runtime/kvstore/journal.h"
#include "runtime/kvstore/settings.h"
#include "runtime/kvstore/shelf.h"

namespace mxc::kvstore {

// What workers are told. Calls come from within the store's.
class Answers {
 public:
  virtual ~Answers() = default;
  virtual void Commit(uint32_t worker, uint32_t key, uint64_t seq) = 0;
  // `version`: how often the key was updated; `holds`: the worker's last push
  // among those updates.
  virtual void Value(uint32_t worker, uint32_t key, uint64_t version,
                     uint64_t holds, Body value) = 0;
};

class Store {
 public:
  // All must outlive the store.
  Store(const KeyTable& keys, const Settings& settings, Shelf& shelf,
        Answers& answers);

  // A worker's mistakes are errors: it breaks the protocol.
  Status Init(uint32_t worker, uint32_t key, Bytes value);
  // Where the payload of a push that is coming belongs; empty: anywhere. The
  // memory is there until the worker's next payload or until it leaves.
  std::span<std::byte> Place(uint32_t worker, const Header& push);
  // A payload of a push has come; the last one completes it.
  Status Take(uint32_t worker, const Frame& push);
  // Answered once the key has a value. Rows: one answer at a time; what is asked
  // for before it is sent is not answered.
  struct Wanted {
    // The value before, if it is kept and was the value after that round.
    std::optional<uint64_t> as_of;
    // These rows of a sparse key, which are merged; else all of it.
    std::optional<std::vector<uint64_t>> rows;
    // Rows of a sparse key that have changed since it was updated so often, if
    // they are known and fewer bytes than all of it. Not with `as_of`.
    std::optional<uint64_t> since;
  };
  void Pull(uint32_t worker, uint32_t key, const Wanted& wanted);
  // It has finished: rounds go on without it. Its pushes that wait for others
  // still count.
  Status Leave(uint32_t worker);
  // It is lost: so, too, but what waits for others does not count.
  Status Expel(uint32_t worker);
  // It is not there to be answered; it will ask again.
  void Forget(uint32_t worker);
  // Another process is the worker from now on: what waits does not count.
  void Replace(uint32_t worker);
  // After which rounds such a worker can take part again; from now on rounds
  // wait for it. In async mode: how often it has pushed.
  struct Rounds {
    uint64_t earliest, latest;
  };
  StatusOr<Rounds> Ask(uint32_t worker);
  // It takes part once each key was updated so often. Until then it gets no
  // values, and rounds go on without it.
  Status Join(uint32_t worker, uint64_t round);
  // The round that was joined; 0: since the beginning.
  uint64_t joined(uint32_t worker) const { return joined_[worker]; }

  // In sync mode: keeps of each key the value before the last update. What was
  // lost with a worker can be computed again then, and no round lacks it.
  void KeepPrevious() { keeps_previous_ = settings_.mode == Mode::kSync; }
  // Every value from now on is in the records before anybody hears of it.
  void Keep(Records& records) { records_ = &records; }
  // Writes all values; reads one.
  Status WriteAll(Records& records);
  Status Restore(const JournalRecord& record);
  Status RestoreRows(const JournalRecord& record);

  // Updates that all trained keys have had, and those that hold a push of the
  // worker.
  uint64_t rounds() const;
  uint64_t rounds(uint32_t worker) const;
  uint64_t version(uint32_t key) const { return states_[key].version; }

 private:
  struct KeyState {
    KeyState(Gathering gathering, uint64_t rows)
        : gathering(std::move(gathering)), changes(rows) {}

    bool has_value = false;
    uint64_t version = 0;
    std::vector<uint64_t> applied;      // the last seq of each worker
    Gathering gathering;                // of the next update
    std::map<uint32_t, Wanted> asking;  // who wants a value
    Body body;                          // of the value, while it is current
    // Answers to who wants rows, while they are sent.
    std::map<uint32_t, std::weak_ptr<Content>> rows;
    Changes changes;  // of a sparse key
    // What compression has left out of sums.
    std::vector<float> residual;
    // Before the last update, if they are kept.
    Body previous;
    std::vector<uint64_t> previously_applied;
  };

  template <class Count>
  uint64_t Fewest(Count count) const;
  bool Fits(uint32_t key, const Header& push) const;
  Status Check(uint32_t worker, const Header& push) const;
  bool IsNext(uint32_t worker, const Header& push) const;
  bool IsIn(uint32_t worker, uint32_t key) const;
  std::set<uint32_t> MembersOf(uint32_t key) const;
  Status FinishRound(uint32_t key);
  Status FinishRounds();
  void Remember(uint32_t key);
  Status ApplyOne(uint32_t worker, uint32_t key);
  Status Apply(uint32_t key, std::span<const float> gradient, double rate);
  Status Apply(uint32_t key, const Rows& gradient, double rate);
  void LetGo(uint32_t key);
  bool CompressesSums(uint32_t key) const;
  std::vector<std::span<std::byte>> Kept(uint32_t key);
  void Answer(uint32_t worker, const Header& push);
  bool IsFresh(uint32_t worker, uint32_t key) const;
  void AnswerAsking(uint32_t key);
  void SendValue(uint32_t worker, uint32_t key, const Wanted& wanted);
  Body Cut(uint32_t worker, uint32_t key, const Body& value,
           const Wanted& wanted);
  std::optional<std::vector<uint64_t>> ChangedSince(uint32_t key,
                                                    uint64_t version) const;
  Status WriteKey(uint32_t key, Records& records);
  Status WriteRows(uint32_t key, const Rows& rows);
  Status WritePrevious(uint32_t key, Records& records);

  const KeyTable& keys_;
  const Settings settings_;
  Shelf& shelf_;
  Answers& answers_;
  Records* records_ = nullptr;
  bool keeps_previous_ = false;
  std::set<uint32_t> members_;
  Buffers buffers_;
  std::vector<uint64_t> joined_;  // by worker: after which round
  std::vector<KeyState> states_;
};

}  // namespace mxc::kvstore
