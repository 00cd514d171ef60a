// SPDX-License-Identifier: Apache-2.0
// How the two processes of a server (pair.h) find each other, and how a backup
// gets records. Who is not the primary, and has no link to it, calls the other
// one.
#include <algorithm>
#include <utility>

#include "runtime/base/random_number.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/session.h"

namespace mxc::kvstore {
namespace {

constexpr Time kPause = kSecond / 20;  // between calls

// No optimizer keeps so much for a key, and no residual does.
uint64_t LargestRecord(const KeyTable& keys, uint32_t workers) {
  uint64_t largest = 0;
  for (const KeySpec& key : keys) {
    const uint64_t rows = key.sparse() ? key.rows() : 0;
    largest = std::max(largest, 16 * key.bytes + 16 * rows);
  }
  constexpr uint64_t kRest = 1 << 20;  // counters among it
  return largest + 8 * uint64_t{workers} + kRest;
}

}  // namespace

uint64_t Server::MakeBirth() { return runtime::RandomNumber() | 1; }

std::string Server::PartnerText() const {
  return options_.pair.name + ", " + Describe(options_.settings);
}

// Somebody calls who says it is the partner. Who is not to be linked calls again.
Status Server::GreetPartner(const std::shared_ptr<Session>& session,
                            const Frame& frame) {
  const Time now = transport_.Now();
  const std::string identity = session->channel.connection().identity();
  if (pair_.birth == 0 ||
      (options_.tls != nullptr && identity != kPartnerIdentity) ||
      frame.text() != PartnerText()) {
    return Fail(StatusCode::kInvalidArgument, "it is no partner");
  }
  session->partner = true;
  const bool leaves = pair_.proposal && pair_.proposal->backup == 0;
  if (!IsPrimary() || leaves) {
    return Fail(StatusCode::kIo, "this process links nobody now");
  }
  if (const auto before = pair_.link; before != nullptr) {
    Drop(*before, Fail(StatusCode::kIo, "it calls again"), now);
  }
  if (pair_.counts != 0 && pair_.counts != frame.holds) {
    pair_.lost -= options_.patience.heartbeat;  // it is dead
    return Fail(StatusCode::kIo, "another process is the backup");
  }
  return Link(session, frame.holds);
}

// All records there are, then each new one.
Status Server::Link(const std::shared_ptr<Session>& session, uint64_t birth) {
  pair_.link = session;
  pair_.records = pair_.stored = 0;
  pair_.counts = birth;
  session->channel.Send(HeaderOf(FrameType::kWelcome));
  class ToLink final : public Records {
   public:
    explicit ToLink(Server& server) : server_(server) {}
    Status Append(const JournalRecord& record) override {
      server_.SendRecord(EncodeRecord(record));
      return {};
    }

   private:
    Server& server_;
  } records(*this);
  MXC_RT_RETURN_IF_ERROR(WriteAll(records));
  MXC_RT_RETURN_IF_ERROR(records.Append({}));
  pair_.first = pair_.records;
  for (Held& held : held_) held.records = pair_.first;
  return {};
}

Status Server::HandlePartner(const std::shared_ptr<Session>& session,
                             const Frame& frame) {
  const bool welcome = frame.type == FrameType::kWelcome;
  if (session == pair_.dial && welcome && !IsPrimary()) {
    pair_.link = std::exchange(pair_.dial, nullptr);
    pair_.records = 0;
    return {};
  }
  if (session != pair_.link) return Fail(StatusCode::kIo, "it is not linked");
  if (frame.type == FrameType::kStored && IsPrimary()) {
    pair_.stored = std::min(frame.seq, pair_.records);
    SayHeld();
    return {};
  }
  if (frame.type == FrameType::kRecord && !IsPrimary()) {
    const Status status = OnRecord(*session, frame);
    // Half a record was taken, perhaps.
    if (!status.ok()) Supersede();
    return status;
  }
  if (frame.type == FrameType::kAbort && !IsPrimary()) {
    return ended_ = Fail(StatusCode::kFailed, "the primary: %s",
                         std::string(frame.text()).c_str());
  }
  if (frame.type == FrameType::kBye && !IsPrimary()) {
    dismissed_ = true;
    return {};
  }
  return Fail(StatusCode::kInvalidArgument, "a partner does not send type %d",
              static_cast<int>(frame.type));
}

Status Server::OnRecord(Session& session, const Frame& frame) {
  std::vector<std::byte>& bytes = session.record;
  if (frame.offset == 0) bytes.clear();
  if (frame.offset != bytes.size() ||
      frame.total > LargestRecord(keys_, options_.settings.workers)) {
    return Fail(StatusCode::kCorrupt, "a record does not fit together");
  }
  bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
  if (bytes.size() < frame.total) return {};
  MXC_RT_RETURN_IF_ERROR(Keep(session, std::move(bytes)));
  bytes = {};
  Header stored = HeaderOf(FrameType::kStored);
  stored.seq = ++pair_.records;
  session.channel.Send(stored);
  return {};
}

// Those up to the mark at once: if the primary dies before it, what this one had
// is still whole.
Status Server::Keep(Session& session, std::vector<std::byte> bytes) {
  const auto record = DecodeRecord(bytes);
  if (!record || record->kind == JournalRecord::Kind::kPair) {
    return Fail(StatusCode::kCorrupt, "a record is damaged");
  }
  if (session.marked) {
    if (journal_) MXC_RT_RETURN_IF_ERROR(journal_->AppendEncoded(bytes));
    return Restore(*record);
  }
  if (record->kind != JournalRecord::Kind::kMark) {
    const size_t most = 2 * keys_.size() + workers_.size();
    if (session.first_records.size() >= most) {
      return Fail(StatusCode::kCorrupt, "there are too many records");
    }
    session.first_records.push_back(std::move(bytes));
    return {};
  }
  for (const auto& first : std::exchange(session.first_records, {})) {
    MXC_RT_RETURN_IF_ERROR(Restore(*DecodeRecord(first)));
  }
  session.marked = true;
  return journal_ ? BeginJournal() : Status();
}

// Who was not yet the backup is not waited for.
void Server::DropPartner(Session& session, Time now) {
  if (pair_.dial.get() == &session) pair_.dial = nullptr;
  if (pair_.link.get() != &session) return;
  pair_.link = nullptr;
  pair_.lost = now;
  if (pair_.term.backup != 0 || pair_.proposal) return;
  pair_.counts = 0;
  SayHeld();
}

void Server::PumpPair(Time now) {
  if (pair_.birth == 0) return;
  Propose(now);
  if (pair_.link != nullptr && IsPrimary() && finished()) {
    pair_.link->channel.Send(HeaderOf(FrameType::kBye));
    // A backup that does not hear it finds out that all workers have left.
    (void)pair_.link->channel.Pump(now).ok();
  }
  if (pair_.link != nullptr || now < pair_.next) return;
  pair_.next = now + kPause;
  if (!IsPrimary() && pair_.dial == nullptr) Dial(now);
  if (!IsUnsure() || now - pair_.lost <= options_.patience.silence) return;
  const Status cause = Fail(StatusCode::kIo, "who goes on is not known");
  for (size_t i = 0; i < sessions_.size(); ++i) {
    const auto session = sessions_[i];
    if (session->known && !session->over) Drop(*session, cause, now);
  }
}

void Server::Dial(Time now) {
  auto connected = transport_.Connect(options_.pair.partner);
  if (connected.ok() && options_.pair.tls != nullptr) {
    connected = options_.pair.tls->Secure(std::move(*connected));
  }
  if (!connected.ok()) return;
  pair_.dial =
      std::make_shared<Session>(std::move(*connected), options_.patience, now);
  pair_.dial->partner = true;
  Header header = HeaderOf(FrameType::kPartner);
  header.holds = pair_.birth;
  pair_.dial->channel.Send(header, EncodeText(PartnerText()));
  sessions_.push_back(pair_.dial);
}

}  // namespace mxc::kvstore
