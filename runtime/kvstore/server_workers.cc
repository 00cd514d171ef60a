// SPDX-License-Identifier: Apache-2.0
// Who takes part in a server's job: who comes, who is lost, who comes back.
#include <algorithm>
#include <utility>

#include "runtime/kvstore/server.h"
#include "runtime/kvstore/session.h"

namespace mxc::kvstore {

Status Server::Admit(const std::shared_ptr<Session>& session,
                     const Hello& hello, const Header& header) {
  const std::string identity = session->channel.connection().identity();
  if (hello.rank >= workers_.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "worker %u is not one of this job's %zu", hello.rank,
                workers_.size());
  }
  if (options_.tls != nullptr && identity != WorkerIdentity(hello.rank)) {
    return Fail(StatusCode::kInvalidArgument, "%s calls itself worker %u",
                identity.c_str(), hello.rank);
  }
  const std::string own = Describe(options_.settings);
  if (hello.settings != own) {
    return Fail(StatusCode::kInvalidArgument,
                "worker %u is set to '%s', the server to '%s'", hello.rank,
                hello.settings.c_str(), own.c_str());
  }
  MXC_RT_RETURN_IF_ERROR(RequirePrimary(header, transport_.Now()));
  Worker& worker = workers_[hello.rank];
  MXC_RT_RETURN_IF_ERROR(CheckIncarnation(worker, hello));
  // An older connection of the same worker has no say any more.
  if (worker.session != nullptr) worker.session->over = true;
  store_.Forget(hello.rank);
  const bool known = worker.incarnation == hello.incarnation;
  if (worker.incarnation != 0 && !known) {
    store_.Replace(hello.rank);
    worker.replaced = true;
  }
  worker.incarnation = hello.incarnation;
  worker.given_up = worker.told = worker.awaited = false;
  session->replaces = worker.replaced;
  if (!known) {
    const Status written = WriteWorker(hello.rank, *log_);
    if (!written.ok()) return ended_ = written;
  }
  worker.session = session;
  session->rank = hello.rank;
  session->known = true;
  return {};
}

// Numbers grow from process to process: the last one is the worker.
Status Server::CheckIncarnation(const Worker& worker,
                                const Hello& hello) const {
  const bool known = worker.incarnation == hello.incarnation;
  if (worker.incarnation == 0 || (known && !worker.given_up)) return {};
  if (known) {
    return Fail(StatusCode::kInvalidArgument, "worker %u was given up: %s",
                hello.rank, worker.cause.c_str());
  }
  if (hello.incarnation < worker.incarnation) {
    return Fail(StatusCode::kInvalidArgument,
                "another process is worker %u by now", hello.rank);
  }
  if (options_.on_loss != OnLoss::kAbort && !worker.left) return {};
  return Fail(StatusCode::kInvalidArgument,
              "worker %u was in this job before and cannot begin again",
              hello.rank);
}

Status Server::Join(Session& session, const Frame& frame) {
  Header answer = HeaderOf(FrameType::kJoin);
  Status status;
  if ((frame.flags & kTakesPart) != 0) {
    status = store_.Join(session.rank, frame.seq);
  } else {
    const StatusOr<Store::Rounds> rounds = store_.Ask(session.rank);
    status = rounds.status();
    if (rounds.ok()) {
      answer.seq = rounds->earliest;
      answer.holds = rounds->latest;
    }
  }
  if (status.ok()) status = WriteWorker(session.rank, *log_);
  if (!status.ok()) return ended_ = status;
  Say(workers_[session.rank].session, answer);
  return {};
}

// The worker ends the connection once it has heard that this is known.
Status Server::Bye(Session& session) {
  Status status;
  if (!std::exchange(workers_[session.rank].left, true)) {
    status = WriteWorker(session.rank, *log_);
    if (status.ok()) status = store_.Leave(session.rank);
  }
  if (status.ok()) {
    Say(workers_[session.rank].session, HeaderOf(FrameType::kBye));
  }
  if (!status.ok()) ended_ = status;
  return status;
}

void Server::Drop(Session& session, const Status& cause, Time now) {
  session.over = true;
  if (session.partner) return DropPartner(session, now);
  if (!session.known) return;
  Worker& worker = workers_[session.rank];
  if (worker.session.get() != &session) return;
  worker.session = nullptr;
  // More than the silence only if this process itself was stopped.
  const Time silence = options_.patience.silence;
  worker.heard = std::max(session.channel.heard(), now - silence);
  worker.silent = now - worker.heard >= silence;
  worker.lost = now;
  worker.cause = cause.message();
  store_.Forget(session.rank);
}

Status Server::RequireWorkers(Time now) {
  const Patience& patience = options_.patience;
  if (pair_.birth != 0 && (!IsPrimary() || IsUnsure())) return {};
  bool any = false;
  for (uint32_t rank = 0; rank < workers_.size(); ++rank) {
    const Worker& worker = workers_[rank];
    any = any || !worker.given_up;
    if (worker.left || worker.given_up || worker.session != nullptr) continue;
    if (worker.incarnation == 0 && now - began_ > patience.arrival) {
      return Fail(StatusCode::kIo, "worker %u did not come within %lld s", rank,
                  static_cast<long long>(patience.arrival / kSecond));
    }
    if (worker.incarnation != 0 && IsLost(worker, now)) {
      MXC_RT_RETURN_IF_ERROR(OnLost(rank, now));
    }
  }
  return any ? Status() : Fail(StatusCode::kIo, "all workers are lost");
}

// Who has closed the connection is dead or tries again at once; who was
// connected to a pair's other process finds out later than this one.
bool Server::IsLost(const Worker& worker, Time now) const {
  const Patience& patience = options_.patience;
  if (worker.awaited) return now - worker.heard > patience.comeback;
  if (options_.on_loss == OnLoss::kShrink && !worker.silent) {
    return now - worker.lost > patience.heartbeat;
  }
  return now - worker.heard > patience.absence;
}

Status Server::OnLost(uint32_t rank, Time now) {
  Worker& worker = workers_[rank];
  const bool shrink = options_.on_loss == OnLoss::kShrink && rank != 0;
  const bool wait = options_.on_loss != OnLoss::kAbort && !shrink;
  const Time replacement = 5 * options_.patience.arrival;
  if ((!wait && !shrink) || (wait && now - worker.heard > replacement)) {
    return Fail(StatusCode::kIo, "worker %u is lost: %s", rank,
                worker.cause.c_str());
  }
  if (!std::exchange(worker.told, true) && options_.lost) {
    options_.lost(rank, worker.cause);
  }
  if (wait) return {};
  worker.given_up = true;
  MXC_RT_RETURN_IF_ERROR(store_.Expel(rank));
  return WriteWorker(rank, *log_);
}

ServerFacts Server::facts() const {
  ServerFacts facts;
  if (pair_.birth != 0) {
    facts.role = IsPrimary()                        ? PairRole::kPrimary
                 : pair_.term.backup == pair_.birth ? PairRole::kBackup
                                                    : PairRole::kFresh;
  }
  facts.term = pair_.term.number;
  facts.paired = pair_.link != nullptr && pair_.term.backup != 0 &&
                 facts.role != PairRole::kFresh;
  facts.rounds = store_.rounds();
  facts.received = received_;
  facts.sent = sent_;
  const Time now = transport_.Now();
  for (uint32_t rank = 0; rank < workers_.size(); ++rank) {
    const Worker& worker = workers_[rank];
    WorkerFacts& of = facts.workers.emplace_back();
    of.rounds = store_.rounds(rank);
    const bool there = worker.session != nullptr;
    of.state = worker.left              ? WorkerState::kFinished
               : there                  ? WorkerState::kThere
               : worker.given_up        ? WorkerState::kGivenUp
               : worker.incarnation > 0 ? WorkerState::kLost
                                        : WorkerState::kAwaited;
    const Time heard = there ? worker.session->channel.heard() : worker.heard;
    of.silence = heard == 0 ? 0 : now - heard;
  }
  return facts;
}

Status Server::Restore(const JournalRecord& record) {
  if (record.kind == JournalRecord::Kind::kKey) return store_.Restore(record);
  if (record.kind == JournalRecord::Kind::kRows) {
    return store_.RestoreRows(record);
  }
  if (record.kind == JournalRecord::Kind::kPair) {
    RestorePair(record);
    return {};
  }
  if (record.kind != JournalRecord::Kind::kWorker ||
      record.index >= workers_.size()) {
    return Fail(StatusCode::kCorrupt, "the journal is of another job");
  }
  return RestoreWorker(record);
}

Status Server::RestoreWorker(const JournalRecord& record) {
  Worker& worker = workers_[record.index];
  worker.incarnation = record.number;
  worker.heard = worker.lost = transport_.Now();
  worker.given_up = record.lost;
  worker.replaced = record.replaced;
  worker.cause = "it did not come back to the server, which was started again";
  if (record.left && !std::exchange(worker.left, true)) {
    return store_.Leave(record.index);
  }
  if (record.lost) return store_.Expel(record.index);
  // In async mode it takes part at once; in sync mode after the round that it
  // has joined, or since the beginning.
  if (record.applied.size() != 1) return {};
  const bool sync = options_.settings.mode == Mode::kSync;
  if (sync && record.applied[0] == 0) return {};
  return store_.Join(record.index, record.applied[0]);
}

Status Server::BeginJournal() {
  MXC_RT_RETURN_IF_ERROR(journal_->Begin());
  MXC_RT_RETURN_IF_ERROR(WritePair());
  MXC_RT_RETURN_IF_ERROR(WriteAll(*journal_));
  return journal_->Mark();
}

Status Server::WriteAll(Records& records) {
  for (uint32_t rank = 0; rank < workers_.size(); ++rank) {
    if (workers_[rank].incarnation == 0) continue;
    MXC_RT_RETURN_IF_ERROR(WriteWorker(rank, records));
  }
  return store_.WriteAll(records);
}

Status Server::WriteWorker(uint32_t rank, Records& records) {
  JournalRecord record;
  record.kind = JournalRecord::Kind::kWorker;
  record.index = rank;
  record.number = workers_[rank].incarnation;
  record.left = workers_[rank].left;
  record.lost = workers_[rank].given_up;
  record.replaced = workers_[rank].replaced;
  record.applied = {store_.joined(rank)};
  return records.Append(record);
}

}  // namespace mxc::kvstore
