// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/server.h"

#include <algorithm>
#include <filesystem>
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

// Records that are handed to a function.
class Log final : public Records {
 public:
  using Take = std::function<Status(const JournalRecord&)>;
  explicit Log(Take take) : take_(std::move(take)) {}
  Status Append(const JournalRecord& record) override { return take_(record); }

 private:
  const Take take_;
};

void MakeFolderOf(const std::string& path) {
  std::error_code told_by_the_journal;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                      told_by_the_journal);
}

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
      log_(std::make_unique<Log>(
          [this](const JournalRecord& record) { return Append(record); })),
      began_(transport.Now()),
      workers_(options.settings.workers) {
  if (options.on_loss != OnLoss::kAbort) store_.KeepPrevious();
  if (options.pair.partner.empty()) return;
  pair_.birth = MakeBirth();
  store_.Keep(*log_);
}

Server::~Server() = default;

Status Server::Open() {
  if (options_.journal.empty()) return {};
  // On another disk than before, perhaps: the partner has all of it.
  if (pair_.birth != 0) MakeFolderOf(options_.journal);
  auto journal = Journal::Open(
      options_.journal,
      [this](const JournalRecord& record) { return Restore(record); });
  if (!journal.ok()) return journal.status();
  journal_ = std::move(*journal);
  store_.Keep(*log_);
  return BeginJournal();
}

// A primary may die before workers have heard that it knows of their end: then
// they come to the other one.
bool Server::finished() const {
  if (dismissed_) return true;
  if (pair_.birth != 0 && !IsPrimary()) return false;
  const bool recent = transport_.Now() - began_ <= options_.patience.silence;
  return std::ranges::all_of(workers_, [&](const Worker& worker) {
    return (worker.left || worker.given_up) && worker.session == nullptr &&
           !(worker.awaited && recent);
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
  const bool looks =
      pair_.birth != 0 && pair_.link == nullptr && (!IsPrimary() || IsUnsure());
  return looks ? std::min(earliest, pair_.next) : earliest;
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
  if (journal_ && journal_->grown()) MXC_RT_RETURN_IF_ERROR(BeginJournal());
  PumpPair(now);
  return RequireWorkers(now);
}

void Server::Accept(Time now) {
  while (true) {
    auto accepted = listener_.Accept();
    if (!accepted.ok() || *accepted == nullptr) return;
    std::unique_ptr<Connection> connection = std::move(*accepted);
    const auto strangers =
        std::ranges::count_if(sessions_, [](const auto& session) {
          return !session->known && !session->partner;
        });
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
  // Nobody is silent who was not asked.
  session->more =
      session->more || session->channel.IsSilent(now) ||
      transport_.MayRead(session->channel.connection().descriptor());
  session->waits = session->more && IsAhead(*session, now);
  const int most = !session->more || session->waits ? 0 : kMostFrames;
  for (int i = 0; i < most && !session->over; ++i) {
    const auto received = session->channel.Receive(now, frame, place);
    if (!received.ok()) return received.status();
    session->more = *received;
    if (!*received) break;
    MXC_RT_RETURN_IF_ERROR(session->partner ? HandlePartner(session, frame)
                           : session->known ? Handle(*session, frame)
                                            : Greet(session, frame));
  }
  if (!session->known && session != pair_.link &&
      now - session->since > options_.patience.handshake) {
    return Fail(StatusCode::kIo, "%s did not say who it is",
                session->channel.connection().peer().c_str());
  }
  return session->channel.Pump(now);
}

// A stranger that is refused hears why.
Status Server::Greet(const std::shared_ptr<Session>& session,
                     const Frame& frame) {
  if (frame.type == FrameType::kPartner) return GreetPartner(session, frame);
  const StatusOr<Hello> hello = DecodeHello(frame);
  const Status status =
      hello.ok() ? Admit(session, *hello, frame) : hello.status();
  Header answer =
      HeaderOf(status.ok() ? FrameType::kWelcome : FrameType::kReject);
  answer.flags = session->replaces ? kReplaces : 0;
  if (status.code() == StatusCode::kBusy) answer.flags = kElsewhere;
  answer.seq = pair_.term.number;
  session->channel.Send(answer,
                        status.ok() ? nullptr : EncodeText(status.message()));
  if (!status.ok()) (void)session->channel.Pump(transport_.Now()).ok();
  return status;
}

void Server::Abort(const Status& cause) {
  ended_ = cause;
  if (superseded_) return;
  for (const auto& session : sessions_) {
    const bool hears = session->known || session == pair_.link;
    if (session->over || !hears) continue;
    session->channel.Send(HeaderOf(FrameType::kAbort),
                          EncodeText(cause.message()));
    (void)session->channel.Pump(transport_.Now()).ok();
  }
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
