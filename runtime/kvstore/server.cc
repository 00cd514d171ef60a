// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/server.h"

#include <algorithm>
#include <utility>

#include "runtime/kvstore/session.h"

namespace mxc::kvstore {
namespace {

// Connections that have not said who they are.
constexpr size_t kMostStrangers = 64;
// Of one connection, before others have their turn.
constexpr int kMostFrames = 64;
// Of gradients: by so much, dealt to all workers, one may be ahead of another
// that is sending. The more workers, the less of a link each one has.
constexpr uint64_t kMostLead = 1 << 19;
// Who has sent nothing for so long is not sending.
constexpr Time kLull = kSecond / 50;

}  // namespace

Server::Server(Transport& transport, Listener& listener, const KeyTable& keys,
               Shelf& shelf, const ServerOptions& options)
    : transport_(transport),
      listener_(listener),
      options_(options),
      parts_(keys, options.settings),
      keys_(parts_.table),
      shelf_(parts_, shelf),
      store_(keys_, options_.settings, shelf_, *this),
      began_(transport.Now()),
      workers_(options.settings.workers) {
  if (options.on_loss != OnLoss::kAbort) store_.KeepPrevious();
}

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

bool Server::finished() const {
  return std::ranges::all_of(workers_, [](const Worker& worker) {
    return (worker.left || worker.given_up) && worker.session == nullptr;
  });
}

std::vector<Interest> Server::interests() const {
  std::vector<Interest> interests = {{listener_.descriptor(), false}};
  for (const auto& session : sessions_) {
    interests.push_back(session->channel.interest());
    interests.back().read = !session->waits;
  }
  return interests;
}

// What TLS has taken from a socket does not wake Transport::Wait.
Time Server::deadline() const {
  const Time now = transport_.Now();
  Time earliest = now + kSecond;
  for (const auto& session : sessions_) {
    if (session->more && !session->waits) return now;
    if (session->waits) earliest = std::min(earliest, now + kLull);
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

// Links share what they carry unevenly, while a gradient is of use only when
// those of all workers are there: who is ahead waits, and its link closes, until
// the others have caught up. Whoever has all its gradients used, and sends none,
// only seems to be behind: it has still to get its values. A second of silence
// would not be far from a loss.
bool Server::IsAhead(const Session& session, Time now) const {
  if (now - session.channel.heard() >= kSecond) return false;
  const uint64_t most = kMostLead / options_.settings.workers;
  return std::ranges::any_of(sessions_, [&](const auto& other) {
    const bool sends = other->known && !other->over &&
                       now - other->pushed < kLull &&
                       (other->lead > 0 || other->channel.partly_received());
    return sends && session.lead > other->lead + most;
  });
}

Status Server::ServeSession(const std::shared_ptr<Session>& session, Time now) {
  Frame frame;
  const auto place = [&](const Header& header) {
    const bool push = session->known && header.type == FrameType::kPush;
    return push ? store_.Place(session->rank, header) : std::span<std::byte>();
  };
  // Of many connections few have anything at a time: the others are not asked.
  session->more =
      session->more ||
      transport_.MayRead(session->channel.connection().descriptor());
  session->waits = session->more && IsAhead(*session, now);
  const int most = !session->more || session->waits ? 0 : kMostFrames;
  for (int i = 0; i < most && !session->over; ++i) {
    const auto received = session->channel.Receive(now, frame, place);
    if (!received.ok()) return received.status();
    session->more = *received;
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
  Header answer =
      HeaderOf(status.ok() ? FrameType::kWelcome : FrameType::kReject);
  answer.flags = session->replaces ? kReplaces : 0;
  session->channel.Send(answer,
                        status.ok() ? nullptr : EncodeText(status.message()));
  if (!status.ok()) (void)session->channel.Pump(transport_.Now()).ok();
  return status;
}

Status Server::Handle(Session& session, const Frame& frame) {
  if (frame.type == FrameType::kBye) return Bye(session);
  if (frame.type == FrameType::kJoin) return Join(session, frame);
  if (frame.type == FrameType::kAbort) {
    return ended_ = Fail(StatusCode::kFailed, "worker %u: %s", session.rank,
                         std::string(frame.text()).c_str());
  }
  if (frame.key >= keys_.size()) {
    return Fail(StatusCode::kInvalidArgument, "there is no key %u", frame.key);
  }
  MXC_RT_RETURN_IF_ERROR(CheckRight(session.rank, frame));
  if (frame.type == FrameType::kPull) return Pull(session, frame);
  if (frame.type == FrameType::kInit) return Init(session, frame);
  if (frame.type == FrameType::kPush) {
    received_ += frame.length;
    if (!keys_[frame.key].sparse()) session.lead += frame.length;
    session.pushed = transport_.Now();
    // The store is not to be trusted any more, or a worker is not.
    return ended_ = store_.Take(session.rank, frame);
  }
  return Fail(StatusCode::kInvalidArgument, "a worker does not send type %d",
              static_cast<int>(frame.type));
}

Status Server::CheckRight(uint32_t worker, const Frame& frame) const {
  const KeySpec& key = keys_[frame.key];
  const uint32_t whose =
      frame.type == FrameType::kInit ? key.writer : key.reader;
  if (whose == kAnyWorker || whose == worker) return {};
  return Fail(StatusCode::kInvalidArgument, "key '%s' is not for worker %u",
              key.name.c_str(), worker);
}

// Payloads become a body, whose size `fits`. True: it is whole.
StatusOr<bool> Server::Collect(Session& session, const Frame& frame,
                               bool fits) const {
  auto& body = session.bodies[frame.key];
  if (frame.offset == 0) body.clear();
  if (!fits || frame.offset != body.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "what worker %u sends for key '%s' does not fit together",
                session.rank, keys_[frame.key].name.c_str());
  }
  body.insert(body.end(), frame.payload.begin(), frame.payload.end());
  return body.size() == frame.total;
}

Status Server::Init(Session& session, const Frame& frame) {
  const bool fits = frame.total == keys_[frame.key].bytes;
  const StatusOr<bool> whole = Collect(session, frame, fits);
  if (!whole.ok() || !*whole) return whole.status();
  ended_ = store_.Init(session.rank, frame.key, session.bodies[frame.key]);
  session.bodies.erase(frame.key);
  return ended_;
}

// Of a sparse key it may have a body: which rows.
Status Server::Pull(Session& session, const Frame& frame) {
  Store::Wanted wanted;
  if ((frame.flags & kAsOfRound) != 0) {
    wanted.as_of = frame.seq;
  } else if ((frame.flags & kChanges) != 0 && keys_[frame.key].sparse()) {
    wanted.since = frame.holds;
  }
  if (frame.total > 0) {
    const KeySpec& key = keys_[frame.key];
    const bool fits = key.sparse() && MayBeRows(frame.total, 0, key.rows());
    const StatusOr<bool> whole = Collect(session, frame, fits);
    if (!whole.ok() || !*whole) return whole.status();
    const auto body = session.bodies.extract(frame.key);
    const auto rows = DecodeRows(body.mapped(), 0, key.rows());
    if (!rows.ok()) return rows.status();
    wanted.rows.emplace(rows->numbers.begin(), rows->numbers.end());
  }
  store_.Pull(session.rank, frame.key, wanted);
  return {};
}

void Server::Abort(const Status& cause) {
  ended_ = cause;
  for (const auto& session : sessions_) {
    if (session->over || !session->known) continue;
    session->channel.Send(HeaderOf(FrameType::kAbort),
                          EncodeText(cause.message()));
    (void)session->channel.Pump(transport_.Now()).ok();
  }
}

void Server::Commit(uint32_t worker, uint32_t key, uint64_t seq) {
  const auto& session = workers_[worker].session;
  if (session == nullptr) return;
  Header header = HeaderOf(FrameType::kCommit);
  header.key = key;
  header.seq = seq;
  session->channel.Send(header);
  if (seq == 0 || keys_[key].sparse()) return;
  const uint64_t bytes =
      EncodedBytes(options_.settings.compression.codec, keys_[key].elements());
  session->lead -= std::min(session->lead, bytes);
}

void Server::Value(uint32_t worker, uint32_t key, uint64_t version,
                   uint64_t holds, Body value) {
  if (workers_[worker].session == nullptr) return;
  Header header = HeaderOf(FrameType::kValue);
  header.key = key;
  header.seq = version;
  header.holds = holds;
  header.codec = value->codec;
  header.flags = value->changes ? kChanges : 0;
  sent_ += value->bytes.size();
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
