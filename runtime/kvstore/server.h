// SPDX-License-Identifier: Apache-2.0
// A server of a job: workers' connections around a Store. It ends when every
// worker has finished. One that is lost ends it with a sentence, is waited for,
// or is gone on without; another process may be that worker then, and from that
// moment on nothing counts of the process before. It may be one of two processes
// that are a server together (pair.h).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/channel.h"
#include "runtime/kvstore/facts.h"
#include "runtime/kvstore/hello.h"
#include "runtime/kvstore/pair.h"
#include "runtime/kvstore/parts.h"
#include "runtime/kvstore/store.h"
#include "runtime/kvstore/transport/tls.h"

namespace mxc::kvstore {

// What follows when a worker is lost.
enum class OnLoss {
  kAbort,   // the job ends
  kWait,    // the others wait for another process in its place
  kShrink,  // they go on without it, unless it is worker 0; another process
            // may take part later
};

struct ServerOptions {
  Settings settings;
  Patience patience;
  // Null: connections are neither encrypted nor authenticated, and accepted
  // from this machine alone.
  Tls* tls = nullptr;
  // Where the server keeps a journal, which it goes on with if there is one;
  // empty: it keeps none.
  std::string journal;
  OnLoss on_loss = OnLoss::kAbort;
  // Hears of each loss that does not end the job, and why.
  std::function<void(uint32_t worker, const std::string& cause)> lost = nullptr;
  PairOptions pair = {};
  // Hears when a pair's process goes on without the other one, and since when and
  // why.
  std::function<void(const std::string& why)> alone = nullptr;
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
  // What the arbiter of a pair has said.
  void OnTerm(const Term& term);
  // Why Pump has failed: the other process of the pair is the server, and what
  // this one knew is of no use. Another Server may begin.
  bool superseded() const { return superseded_; }
  std::vector<Interest> interests() const;
  Time deadline() const;

  const Store& store() const { return store_; }
  ServerFacts facts() const;

 private:
  struct Session;
  struct Worker {
    uint64_t incarnation = 0;
    std::shared_ptr<Session> session;  // null: it is not connected
    Time heard = 0, lost = 0;          // last, and since when not connected
    bool silent = false;               // it was lost by silence
    std::string cause;
    bool left = false;
    bool given_up = false;  // nobody waits for it
    bool told = false;      // ServerOptions::lost
    bool replaced = false;  // another process was it before
    bool awaited = false;   // it may not have found this process of a pair yet
  };
  // Of a server that is one of two.
  struct Pair {
    uint64_t birth = 0;  // of this process; 0: the server is a single one
    bool heard = false;  // the arbiter has answered
    Term term;           // that it has told last
    std::optional<Proposal> proposal;  // that it has not answered
    Proposal said;                     // last, to the arbiter
    Time next_words = 0;               // when it is said again
    // Of a primary: the process without which nobody hears anything; 0: none.
    uint64_t counts = 0;
    std::shared_ptr<Session> link;  // primary and backup; null: there is none
    std::shared_ptr<Session> dial;  // this one looks for the other
    Time lost = 0, next = 0;        // since when no link; when to look again
    // Over the link: in all; that a backup has stored; that make it one.
    uint64_t records = 0, stored = 0, first = 0;
  };
  // An answer that waits until so many records are stored.
  struct Held {
    uint64_t records = 0;
    std::weak_ptr<Session> to;
    Header header;
    Body body;
    int64_t priority = 0;
  };

  Status Step(Time now);
  void Accept(Time now);
  Status Serve(Time now);
  bool IsAhead(const Session& session, Time now) const;
  Status ServeSession(const std::shared_ptr<Session>& session, Time now);
  Status Greet(const std::shared_ptr<Session>& session, const Frame& frame);
  Status Admit(const std::shared_ptr<Session>& session, const Hello& hello,
               const Header& header);
  Status CheckIncarnation(const Worker& worker, const Hello& hello) const;
  Status Join(Session& session, const Frame& frame);
  Status Handle(Session& session, const Frame& frame);
  Status CheckRight(uint32_t worker, const Frame& frame) const;
  Status Init(Session& session, const Frame& frame);
  Status Pull(Session& session, const Frame& frame);
  StatusOr<bool> Collect(Session& session, const Frame& frame, bool fits) const;
  Status Bye(Session& session);
  void Drop(Session& session, const Status& cause, Time now);
  Status RequireWorkers(Time now);
  bool IsLost(const Worker& worker, Time now) const;
  Status OnLost(uint32_t rank, Time now);
  Status Restore(const JournalRecord& record);
  Status RestoreWorker(const JournalRecord& record);
  Status BeginJournal();
  Status WriteAll(Records& records);
  Status WriteWorker(uint32_t rank, Records& records);
  void Abort(const Status& cause);

  // server_pair.cc
  void Say(const std::shared_ptr<Session>& session, const Header& header,
           Body body = nullptr, int64_t priority = 0);
  bool MaySay(uint64_t records) const;
  void SayHeld();
  Status Append(const JournalRecord& record);
  void SendRecord(std::vector<std::byte> record);
  bool IsPrimary() const;
  bool IsUnsure() const;
  std::optional<Proposal> Wish(Time now) const;
  void Propose(Time now);
  void BecomePrimary();
  void GoOnAlone(bool was_primary);
  Status RequirePrimary(const Header& hello, Time now) const;
  void Supersede();
  Status WritePair();
  void RestorePair(const JournalRecord& record);

  // server_partner.cc
  static uint64_t MakeBirth();
  std::string PartnerText() const;
  Status GreetPartner(const std::shared_ptr<Session>& session,
                      const Frame& frame);
  Status Link(const std::shared_ptr<Session>& session, uint64_t birth);
  Status HandlePartner(const std::shared_ptr<Session>& session,
                       const Frame& frame);
  Status OnRecord(Session& session, const Frame& frame);
  Status Keep(Session& session, std::vector<std::byte> record);
  void DropPartner(Session& session, Time now);
  void PumpPair(Time now);
  void Dial(Time now);

  void Commit(uint32_t worker, uint32_t key, uint64_t seq) override;
  void Value(uint32_t worker, uint32_t key, uint64_t version, uint64_t holds,
             Body value) override;

  Transport& transport_;
  Listener& listener_;
  const ServerOptions options_;
  const Parts parts_;
  const KeyTable& keys_;  // of parts_
  PartShelf shelf_;
  Store store_;
  const std::unique_ptr<Records> log_;  // Append
  std::optional<Journal> journal_;
  Pair pair_;
  std::deque<Held> held_;
  bool superseded_ = false;
  bool dismissed_ = false;  // a backup, by a primary that has finished
  Time began_;
  std::vector<Worker> workers_;
  std::vector<std::shared_ptr<Session>> sessions_;
  uint64_t received_ = 0, sent_ = 0;  // bytes of gradients and values
  Status ended_;                      // why the job ends
};

// Pumps until the server is finished.
Status Serve(Server& server, Transport& transport);

}  // namespace mxc::kvstore
