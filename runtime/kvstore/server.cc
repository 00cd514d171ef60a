// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/server.h"

#include <algorithm>
#include <utility>

namespace mxc::kvstore {
namespace {

// Connections that have not said who they are.
constexpr size_t kMostStrangers = 64;
// Of one connection, before others have their turn.
constexpr int kMostFrames = 64;

Header Of(FrameType type) {
  Header header;
  header.type = type;
  return header;
}

}  // namespace

struct Server::Session {
  Session(std::unique_ptr<Connection> connection, const Patience& patience,
          Time now)
      : channel(std::move(connection), patience, now), since(now) {}

  Channel channel;
  const Time since;
  bool known = false;  // the worker has said who it is
  bool over = false;
  uint32_t rank = 0;
  std::map<uint32_t, std::vector<std::byte>> inits;  // that are coming, by key
};

Server::Server(Transport& transport, Listener& listener, const KeyTable& keys,
               Shelf& shelf, const ServerOptions& options)
    : transport_(transport),
      listener_(listener),
      keys_(keys),
      options_(options),
      store_(keys, options.settings, shelf, *this),
      began_(transport.Now()),
      workers_(options.settings.workers) {}

Server::~Server() = default;

Status Server::Open() {
  if (options_.journal.empty()) return {};
  auto journal = Journal::Open(
      options_.journal,
      [this](const JournalRecord& record) { return Restore(record); });
  if (!journal.ok()) return journal.status();
  journal_ = std::move(*journal);
  store_.Keep(*journal_);
  return WriteAll();
}

Status Server::Restore(const JournalRecord& record) {
  if (record.kind == JournalRecord::Kind::kKey) return store_.Restore(record);
  if (record.kind != JournalRecord::Kind::kWorker ||
      record.index >= workers_.size()) {
    return Fail(StatusCode::kCorrupt, "the journal is of another job");
  }
  Worker& worker = workers_[record.index];
  worker.incarnation = record.number;
  worker.lost = transport_.Now();
  worker.cause = "it did not come back to the server, which was started again";
  if (record.left && !std::exchange(worker.left, true)) {
    return store_.Leave(record.index);
  }
  return {};
}

Status Server::WriteAll() {
  MXC_RT_RETURN_IF_ERROR(journal_->Begin());
  for (uint32_t rank = 0; rank < workers_.size(); ++rank) {
    if (workers_[rank].incarnation == 0) continue;
    MXC_RT_RETURN_IF_ERROR(WriteWorker(rank));
  }
  MXC_RT_RETURN_IF_ERROR(store_.WriteAll(*journal_));
  return journal_->Mark();
}

Status Server::WriteWorker(uint32_t rank) {
  JournalRecord record;
  record.kind = JournalRecord::Kind::kWorker;
  record.index = rank;
  record.number = workers_[rank].incarnation;
  record.left = workers_[rank].left;
  return journal_->Append(record);
}

bool Server::finished() const {
  return std::ranges::all_of(workers_, [](const Worker& worker) {
    return worker.left && worker.session == nullptr;
  });
}

std::vector<Interest> Server::interests() const {
  std::vector<Interest> interests = {{listener_.descriptor(), false}};
  for (const auto& session : sessions_) {
    interests.push_back(session->channel.interest());
  }
  return interests;
}

Time Server::deadline() const {
  Time earliest = transport_.Now() + kSecond;
  for (const auto& session : sessions_) {
    earliest = std::min(earliest, session->channel.deadline());
  }
  return earliest;
}

Status Server::Pump() {
  if (!ended_.ok()) return ended_;
  const Status status = Step(transport_.Now());
  if (!status.ok()) Abort(status);
  return status;
}

Status Server::Step(Time now) {
  Accept(now);
  MXC_RT_RETURN_IF_ERROR(Serve(now));
  std::erase_if(sessions_, [](const auto& session) { return session->over; });
  if (journal_ && journal_->grown()) MXC_RT_RETURN_IF_ERROR(WriteAll());
  return RequireWorkers(now);
}

void Server::Accept(Time now) {
  while (true) {
    auto accepted = listener_.Accept();
    if (!accepted.ok() || *accepted == nullptr) return;
    std::unique_ptr<Connection> connection = std::move(*accepted);
    const auto strangers = std::ranges::count_if(
        sessions_, [](const auto& session) { return !session->known; });
    if (static_cast<size_t>(strangers) >= kMostStrangers) continue;
    if (options_.tls == nullptr && !connection->local()) continue;
    if (options_.tls != nullptr) {
      auto secured = options_.tls->Secure(std::move(connection));
      if (!secured.ok()) continue;
      connection = std::move(*secured);
    }
    sessions_.push_back(std::make_shared<Session>(std::move(connection),
                                                  options_.patience, now));
  }
}

// What one connection does wrong ends that connection; an error ends the job.
Status Server::Serve(Time now) {
  for (size_t i = 0; i < sessions_.size(); ++i) {
    const std::shared_ptr<Session> session = sessions_[i];
    if (session->over) continue;
    const Status status = ServeSession(session, now);
    if (!ended_.ok()) return ended_;
    if (!status.ok()) Drop(*session, status, now);
  }
  return {};
}

Status Server::ServeSession(const std::shared_ptr<Session>& session, Time now) {
  Frame frame;
  const auto place = [&](const Header& header) {
    const bool push = session->known && header.type == FrameType::kPush;
    return push ? store_.Place(session->rank, header) : std::span<std::byte>();
  };
  for (int i = 0; i < kMostFrames && !session->over; ++i) {
    const auto received = session->channel.Receive(now, frame, place);
    if (!received.ok()) return received.status();
    if (!*received) break;
    MXC_RT_RETURN_IF_ERROR(session->known ? Handle(*session, frame)
                                          : Greet(session, frame));
  }
  if (!session->known && now - session->since > options_.patience.handshake) {
    return Fail(StatusCode::kIo, "%s did not say who it is",
                session->channel.connection().peer().c_str());
  }
  return session->channel.Pump(now);
}

// A stranger that is refused hears why.
Status Server::Greet(const std::shared_ptr<Session>& session,
                     const Frame& frame) {
  const StatusOr<Hello> hello = DecodeHello(frame);
  const Status status = hello.ok() ? Admit(session, *hello) : hello.status();
  session->channel.Send(
      Of(status.ok() ? FrameType::kWelcome : FrameType::kReject),
      status.ok() ? nullptr : EncodeText(status.message()));
  if (!status.ok()) (void)session->channel.Pump(transport_.Now()).ok();
  return status;
}

Status Server::Admit(const std::shared_ptr<Session>& session,
                     const Hello& hello) {
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
  Worker& worker = workers_[hello.rank];
  if (worker.incarnation != 0 && worker.incarnation != hello.incarnation) {
    return Fail(StatusCode::kInvalidArgument,
                "worker %u was in this job before and cannot begin again",
                hello.rank);
  }
  // An older connection of the same worker has no say any more.
  if (worker.session != nullptr) worker.session->over = true;
  store_.Forget(hello.rank);
  const bool first = worker.incarnation == 0;
  worker.incarnation = hello.incarnation;
  if (journal_ && first) {
    const Status written = WriteWorker(hello.rank);
    if (!written.ok()) return ended_ = written;
  }
  worker.session = session;
  session->rank = hello.rank;
  session->known = true;
  return {};
}

Status Server::Handle(Session& session, const Frame& frame) {
  if (frame.type == FrameType::kBye) return Bye(session);
  if (frame.type == FrameType::kAbort) {
    return ended_ = Fail(StatusCode::kFailed, "worker %u: %s", session.rank,
                         std::string(frame.text()).c_str());
  }
  if (frame.key >= keys_.size()) {
    return Fail(StatusCode::kInvalidArgument, "there is no key %u", frame.key);
  }
  if (frame.type == FrameType::kPull) {
    store_.Pull(session.rank, frame.key);
    return {};
  }
  if (frame.type == FrameType::kInit) return Init(session, frame);
  if (frame.type == FrameType::kPush) {
    // The store is not to be trusted any more, or a worker is not.
    return ended_ = store_.Take(session.rank, frame);
  }
  return Fail(StatusCode::kInvalidArgument, "a worker does not send type %d",
              static_cast<int>(frame.type));
}

// Payloads become a value, which must have the key's size.
Status Server::Init(Session& session, const Frame& frame) {
  auto& value = session.inits[frame.key];
  if (frame.offset == 0) value.clear();
  if (frame.total != keys_[frame.key].bytes || frame.offset != value.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "what worker %u sends for key '%s' does not fit together",
                session.rank, keys_[frame.key].name.c_str());
  }
  value.insert(value.end(), frame.payload.begin(), frame.payload.end());
  if (value.size() < frame.total) return {};
  ended_ = store_.Init(session.rank, frame.key, value);
  session.inits.erase(frame.key);
  return ended_;
}

// The worker ends the connection once it has heard that this is known.
Status Server::Bye(Session& session) {
  Status status;
  if (!std::exchange(workers_[session.rank].left, true)) {
    if (journal_) status = WriteWorker(session.rank);
    if (status.ok()) status = store_.Leave(session.rank);
  }
  if (status.ok()) session.channel.Send(Of(FrameType::kBye));
  if (!status.ok()) ended_ = status;
  return status;
}

void Server::Drop(Session& session, const Status& cause, Time now) {
  session.over = true;
  if (!session.known) return;
  Worker& worker = workers_[session.rank];
  if (worker.session.get() != &session) return;
  worker.session = nullptr;
  worker.lost = now;
  worker.cause = cause.message();
  store_.Forget(session.rank);
}

Status Server::RequireWorkers(Time now) const {
  const Patience& patience = options_.patience;
  for (size_t rank = 0; rank < workers_.size(); ++rank) {
    const Worker& worker = workers_[rank];
    if (worker.left || worker.session != nullptr) continue;
    if (worker.incarnation == 0 && now - began_ > patience.arrival) {
      return Fail(StatusCode::kIo, "worker %zu did not come within %lld s",
                  rank, static_cast<long long>(patience.arrival / kSecond));
    }
    if (worker.incarnation != 0 && now - worker.lost > patience.absence) {
      return Fail(StatusCode::kIo, "worker %zu is lost: %s", rank,
                  worker.cause.c_str());
    }
  }
  return {};
}

void Server::Abort(const Status& cause) {
  ended_ = cause;
  for (const auto& session : sessions_) {
    if (session->over || !session->known) continue;
    session->channel.Send(Of(FrameType::kAbort), EncodeText(cause.message()));
    (void)session->channel.Pump(transport_.Now()).ok();
  }
}

void Server::Commit(uint32_t worker, uint32_t key, uint64_t seq) {
  if (workers_[worker].session == nullptr) return;
  Header header = Of(FrameType::kCommit);
  header.key = key;
  header.seq = seq;
  workers_[worker].session->channel.Send(header);
}

void Server::Value(uint32_t worker, uint32_t key, uint64_t version,
                   uint64_t holds, Body value) {
  if (workers_[worker].session == nullptr) return;
  Header header = Of(FrameType::kValue);
  header.key = key;
  header.seq = version;
  header.holds = holds;
  workers_[worker].session->channel.Send(header, std::move(value),
                                         keys_[key].priority);
}

Status Serve(Server& server, Transport& transport) {
  MXC_RT_RETURN_IF_ERROR(server.Open());
  while (!server.finished()) {
    MXC_RT_RETURN_IF_ERROR(server.Pump());
    if (!server.finished()) {
      transport.Wait(server.interests(), server.deadline());
    }
  }
  return {};
}

}  // namespace mxc::kvstore
