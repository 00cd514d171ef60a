// SPDX-License-Identifier: Apache-2.0
// A worker's side of the store: what it wants of each key, and connections to
// the servers that it makes again when they break. What it has sent and nobody
// has confirmed is sent again, byte for byte.
//
// For a key at a time: an init, or a push and then a pull.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kvstore/channel.h"
#include "runtime/kvstore/parts.h"
#include "runtime/kvstore/rows.h"
#include "runtime/kvstore/settings.h"
#include "runtime/kvstore/transport/tls.h"

namespace mxc::kvstore {

struct ClientOptions {
  uint32_t rank = 0;
  uint64_t incarnation = 1;  // of this start of the worker
  // Addresses, alike for all workers; of a pair both, with '|' between them.
  std::vector<std::string> servers;
  Settings settings;
  Patience patience;
  Tls* tls = nullptr;  // null: in the clear
  // Is told that this side ends a connection of the job, to whom and why; it
  // will try again. The server sees only that it was closed. May be empty.
  std::function<void(const std::string& sentence)> ends = {};
};

// Driven by one thread, as a Server is.
class Client {
 public:
  // Both must outlive the client.
  Client(Transport& transport, const KeyTable& keys,
         const ClientOptions& options);
  ~Client();

  // Begin, and return; `idle` says when all is done. Until then the gradient
  // is read, where it is not compressed, and `out` is written, which has the
  // key's size. Smaller priorities come first.
  void Init(uint32_t key, Bytes value);
  // Before all else: finds out whether another process was this worker before,
  // and where the job is then.
  void Join();
  // Returns whether there was one; after how many rounds, or in async mode
  // pushes of the worker, this process takes part.
  bool replaces() const { return replaces_; }
  uint64_t joined() const { return joined_; }
  void Push(uint32_t key, std::span<const float> gradient, double rate,
            int64_t priority = 0);
  void Pull(uint32_t key, std::span<std::byte> out, int64_t priority = 0);
  void PushPull(uint32_t key, std::span<const float> gradient, double rate,
                std::span<std::byte> out, int64_t priority = 0);
  // The same of some rows of a sparse key, which are merged. `out` has a row for
  // each number.
  void PushRows(uint32_t key, const Rows& gradient, double rate,
                int64_t priority = 0);
  void PullRows(uint32_t key, std::span<const uint64_t> numbers,
                std::span<float> out, int64_t priority = 0);
  // A pull of a sparse key into memory that has the value of the last pull of
  // all of it, which nobody has changed: rows that are known to be the same do
  // not come.
  void PullChanges(uint32_t key, std::span<std::byte> out,
                   int64_t priority = 0);
  // Nothing follows; the servers go on without this worker.
  void Finish();
  // The job ends, and why; to be pumped for a moment, then forgotten.
  void Abort(const std::string& sentence);

  // Does what can be done without waiting. An error is for good.
  Status Pump();
  bool idle() const { return open_ == 0; }
  // The same of one key.
  bool idle(uint32_t key) const;
  bool finished() const;
  std::vector<Interest> interests() const;
  Time deadline() const;

  // How often the key was updated when it was pulled last.
  uint64_t version(uint32_t key) const {
    return states_[parts_.of[key]].version;
  }
  // State of the training, for codecs that keep one; of each key's elements.
  std::span<float> Residual(uint32_t key) { return residuals_[key]; }

 private:
  struct Server;
  // Of a part of a key, as all below.
  struct State {
    Body init;                            // null: none is under way
    std::vector<uint32_t> uninitialized;  // servers that have not confirmed it
    Body push;                            // null: none is under way
    bool want_value = false;              // with the commit
    uint64_t seq = 0;
    double rate = 0;
    std::span<std::byte> out;         // empty: no pull is under way
    Body rows;                        // that it asks for; null: for all
    std::vector<std::byte> unwanted;  // its answer, where nobody wants it
    std::vector<std::byte> encoded;   // its answer, where it is not the value
    bool changes = false;             // the answer may be rows that changed
    std::optional<uint64_t> has;      // the version that `out` has as a whole
    uint64_t received = 0;            // of it
    int64_t priority = 0;
    uint64_t version = 0;
    // The first value says what the process before has pushed.
    bool adopts = false;
  };

  Status PumpServer(Server& server, Time now);
  Status Wait(Server& server, Time now);
  void Reconnect(Server& server, Time now);
  Status Lose(Server& server, const Status& cause, Time now);
  Status Handle(Server& server, const Frame& frame);
  Status Reject(const Server& server, const Frame& frame) const;
  Status OnCommit(Server& server, const Frame& frame);
  std::span<std::byte> Place(const Server& server, const Header& header);
  bool IsAwaited(const Server& server, const Header& value) const;
  std::span<std::byte> PlaceOf(const Header& value);
  Status Complete(uint32_t part, const Header& value);
  Status OnValue(const Server& server, const Frame& frame);
  Status Welcome(Server& server, const Frame& frame);
  bool IsLate(const Server& server, Time now) const;
  void OnJoin(Server& server, const Frame& frame);
  void GoOnJoining();
  void SendInit(Server& server, uint32_t part);
  void SendPush(Server& server, uint32_t part);
  void SendPull(Server& server, uint32_t part);
  // What of the key's elements belongs to the part.
  template <class T>
  std::span<T> Slice(uint32_t part, std::span<T> whole) const;
  Server& ServerOf(uint32_t part) {
    return *servers_[parts_.parts[part].server];
  }
  void BeginInit(uint32_t part, Bytes value);
  // Rows from where to where are the part's.
  std::pair<uint64_t, uint64_t> RowsOf(uint32_t part) const;
  Body Encoded(uint32_t part, std::span<const float> gradient);
  void BeginPush(uint32_t part, Body push, double rate, int64_t priority);
  void BeginPull(uint32_t part, std::span<std::byte> out, Body rows = nullptr);

  Transport& transport_;
  const ClientOptions options_;
  const Parts parts_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<State> states_;                  // by part
  std::vector<std::vector<float>> residuals_;  // by key
  size_t open_ = 0;  // inits, pushes and pulls under way
  bool finishing_ = false, replaces_ = false;
  int joining_ = 0;  // 0: not; 1: asks for the round; 2: tells it
  uint64_t joined_ = 0;
  Status ended_;
};

}  // namespace mxc::kvstore
