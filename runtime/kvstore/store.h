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
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/kvstore/channel.h"
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

struct Push {
  uint32_t worker = 0, key = 0;
  uint64_t seq = 0;
  double rate = 0;
  bool want_value = false;  // with the commit
  std::vector<std::byte> encoded;
};

class Store {
 public:
  // All must outlive the store.
  Store(const KeyTable& keys, const Settings& settings, Shelf& shelf,
        Answers& answers);

  // How many bytes a worker may send for the key.
  uint64_t InitBytes(uint32_t key) const { return keys_[key].bytes; }
  uint64_t PushBytes(uint32_t key) const;

  // A worker's mistakes are errors: it breaks the protocol.
  Status Init(uint32_t worker, uint32_t key, Bytes value);
  Status Take(Push push);
  // Answered once the key has a value.
  void Pull(uint32_t worker, uint32_t key);
  // It has finished: rounds go on without it. Its pushes that wait for others
  // still count.
  Status Leave(uint32_t worker);
  // It is not there to be answered; it will ask again.
  void Forget(uint32_t worker);

  // Every value from now on is in the journal before anybody hears of it.
  void Keep(Journal& journal) { journal_ = &journal; }
  // Writes all values; reads one.
  Status WriteAll(Journal& journal);
  Status Restore(const JournalRecord& record);

  uint64_t version(uint32_t key) const { return states_[key].version; }

 private:
  struct KeyState {
    bool has_value = false;
    uint64_t version = 0;
    std::vector<uint64_t> applied;     // the last seq of each worker
    std::map<uint32_t, Push> waiting;  // by worker: of the round
    std::set<uint32_t> asking;         // who wants a value
    Body copy;                         // of the value, while it is current
  };

  Status Check(const Push& push) const;
  Status FinishRound(uint32_t key);
  Status Apply(uint32_t key, std::span<const Push* const> pushes);
  void Answer(const Push& push);
  void SendValue(uint32_t worker, uint32_t key);
  Status WriteKey(uint32_t key, Journal& journal);

  const KeyTable& keys_;
  const Settings settings_;
  Shelf& shelf_;
  Answers& answers_;
  Journal* journal_ = nullptr;
  std::set<uint32_t> members_;
  std::vector<KeyState> states_;
  std::vector<float> sum_, part_;
};

}  // namespace mxc::kvstore
