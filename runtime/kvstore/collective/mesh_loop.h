// SPDX-License-Identifier: Apache-2.0
// A mesh's connections (mesh.h), driven by its thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/kvstore/channel.h"
#include "runtime/kvstore/collective/inbox.h"
#include "runtime/kvstore/transport/tls.h"

namespace mxc::kvstore {

// The way to a worker that accepts connections.
struct MeshPeer {
  uint32_t rank = 0;
  std::string address;
  std::shared_ptr<Tls> tls;  // null: in the clear
};

struct MeshOptions {
  uint32_t rank = 0, workers = 1;
  // Where workers of larger ranks connect, and how they prove who they are;
  // null: nobody connects, or in the clear and on this machine alone.
  std::unique_ptr<Listener> listener;
  std::shared_ptr<Tls> accepting;
  std::vector<MeshPeer> peers;       // the workers of smaller ranks
  uint64_t most_early = kMostEarly;  // of each worker
  Patience patience;
};

struct MeshRequest {
  bool sends = false;
  uint32_t peer = 0;
  uint64_t slot = 0;
  std::span<std::byte> bytes;  // of a message that is sent: only read
  Inbox::Done done;
};

class MeshLoop {
 public:
  // The transport must outlive the loop.
  MeshLoop(Transport& transport, MeshOptions options);
  ~MeshLoop();

  // Does what can be done without waiting. An error is for good; from then on
  // all that is under way or asked for has failed.
  Status Pump(std::vector<MeshRequest> requests);
  void Break(const Status& cause);
  bool connected() const { return missing_ == 0; }
  // Nothing follows; all that was asked for is done.
  void Leave();
  // All workers have left, and know that this one has.
  bool over() const;
  std::vector<Interest> interests() const;
  Time deadline() const;

 private:
  struct Peer {
    std::unique_ptr<Channel> channel;  // null: not connected
    Inbox inbox;
    bool left = false;
  };
  struct Stranger {
    std::unique_ptr<Channel> channel;
    Time since = 0;
  };

  static Status Of(size_t rank, const Status& status);
  Status Connect();
  Status Step(Time now);
  void Accept(Time now);
  void ServeStrangers(Time now);
  StatusOr<bool> Admit(Stranger& stranger, Time now);
  Status PumpPeer(Peer& peer, Time now);
  Status Take(Peer& peer, const Frame& frame);
  Status Begin(MeshRequest& request);
  void Send(const MeshRequest& request, const Inbox::Done& done);

  Transport& transport_;
  MeshOptions options_;
  const Time began_;
  std::vector<Peer> peers_;  // by rank; this worker's own is never connected
  std::vector<Stranger> strangers_;
  std::deque<MeshRequest> early_;  // asked for before all were connected
  uint32_t missing_;               // workers that have not been connected
  bool more_ = false;              // has come that was not read
  Status failed_;
};

}  // namespace mxc::kvstore
