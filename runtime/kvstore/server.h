// SPDX-License-Identifier: Apache-2.0
// A server of a job: workers' connections around a Store. It ends when every
// worker has finished, or with a sentence when one of them is lost.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/channel.h"
#include "runtime/kvstore/hello.h"
#include "runtime/kvstore/store.h"
#include "runtime/kvstore/transport/tls.h"

namespace mxc::kvstore {

struct ServerOptions {
  Settings settings;
  Patience patience;
  // Null: connections are neither encrypted nor authenticated, and accepted
  // from this machine alone.
  Tls* tls = nullptr;
  // Where the server keeps a journal, which it goes on with if there is one;
  // empty: it keeps none.
  std::string journal;
};

// Driven by one thread: Pump, then Transport::Wait for interests() until
// deadline(), until it is finished.
class Server final : private Answers {
 public:
  // All must outlive the server.
  Server(Transport& transport, Listener& listener, const KeyTable& keys,
         Shelf& shelf, const ServerOptions& options);
  ~Server() override;

  // Reads the journal, if there is one. Before anything else.
  Status Open();

  // Does what can be done without waiting. An error is the job's end; workers
  // have been told.
  Status Pump();
  bool finished() const;
  std::vector<Interest> interests() const;
  Time deadline() const;

  const Store& store() const { return store_; }

 private:
  struct Session;
  struct Worker {
    uint64_t incarnation = 0;
    std::shared_ptr<Session> session;  // null: it is not connected
    Time lost = 0;                     // since when
    std::string cause;
    bool left = false;
  };

  Status Step(Time now);
  void Accept(Time now);
  Status Serve(Time now);
  Status ServeSession(const std::shared_ptr<Session>& session, Time now);
  Status Greet(const std::shared_ptr<Session>& session, const Frame& frame);
  Status Admit(const std::shared_ptr<Session>& session, const Hello& hello);
  Status Handle(Session& session, const Frame& frame);
  Status Init(Session& session, const Frame& frame);
  Status Bye(Session& session);
  void Drop(Session& session, const Status& cause, Time now);
  Status RequireWorkers(Time now) const;
  Status Restore(const JournalRecord& record);
  Status WriteAll();
  Status WriteWorker(uint32_t rank);
  void Abort(const Status& cause);

  void Commit(uint32_t worker, uint32_t key, uint64_t seq) override;
  void Value(uint32_t worker, uint32_t key, uint64_t version, uint64_t holds,
             Body value) override;

  Transport& transport_;
  Listener& listener_;
  const KeyTable& keys_;
  const ServerOptions options_;
  Store store_;
  std::optional<Journal> journal_;
  const Time began_;
  std::vector<Worker> workers_;
  std::vector<std::shared_ptr<Session>> sessions_;
  Status ended_;  // why the job ends
};

// Pumps until the server is finished.
Status Serve(Server& server, Transport& transport);

}  // namespace mxc::kvstore
