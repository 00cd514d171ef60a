// SPDX-License-Identifier: Apache-2.0
// How the two processes of a server (pair.h) find each other, and how a backup
// gets records. Who has no link to the other one calls it: a primary to hear of a
// later term, the others to become its backup.
#include <algorithm>
#include <random>
#include <utility>

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

// Not 0, and not the other's that began at another time.
uint64_t Birth() {
  std::random_device random;
  return (uint64_t{random()} << 32 | random()) | 1;
}

}  // namespace

Header Server::PartnerHeader() const {
  Header header = HeaderOf(FrameType::kPartner);
  header.seq = pair_.term;
  header.holds = pair_.birth;
  const bool primary = pair_.role == PairRole::kPrimary;
  header.flags = (primary ? kIsPrimary : 0) | (pair_.whole ? kIsWhole : 0) |
                 (primary && pair_.followed ? kIsFollowed : 0);
  return header;
}

std::string Server::PartnerText() const {
  return options_.pair.name + ", " + Describe(options_.settings);
}

// Whether the partner is the server and this primary is not.
bool Server::IsLater(const Header& partner) const {
  if (pair_.role != PairRole::kPrimary || partner.holds != pair_.birth ||
      (partner.flags & kIsPrimary) == 0) {
    return false;
  }
  return partner.seq > pair_.term ||
         (partner.seq == pair_.term && (partner.flags & kIsFollowed) != 0 &&
          !pair_.followed);
}

// Somebody calls who says it is the partner. Who is not to be linked hears what
// this one is, and the connection ends.
Status Server::GreetPartner(const std::shared_ptr<Session>& session,
                            const Frame& frame) {
  const Time now = transport_.Now();
  const std::string identity = session->channel.connection().identity();
  if (pair_.role == PairRole::kNone ||
      (options_.tls != nullptr && identity != kPartnerIdentity) ||
      frame.text() != PartnerText()) {
    return Fail(StatusCode::kInvalidArgument, "it is no partner");
  }
  session->partner = true;
  const bool begins = frame.holds == 0;
  const bool same = frame.holds == pair_.birth && frame.seq == pair_.term;
  if (IsLater(frame)) return Supersede();
  if (pair_.role == PairRole::kPrimary && (frame.flags & kIsPrimary) == 0) {
    if (const auto before = pair_.link; before != nullptr) {
      Drop(*before, Fail(StatusCode::kIo, "it calls again"), now);
    }
    if (pair_.counts && same) return Link(session);
    if (pair_.counts) {
      MXC_RT_RETURN_IF_ERROR(BeginTerm(now, "the backup has begun again"));
    } else if (pair_.followed && (begins || frame.holds == pair_.birth)) {
      return Link(session);
    }
  } else if (pair_.role == PairRole::kFresh && begins && options_.pair.first) {
    pair_.role = PairRole::kPrimary;
    pair_.term = 1;
    pair_.birth = Birth();
    return Link(session);
  }
  session->channel.Send(PartnerHeader());
  (void)session->channel.Pump(now).ok();
  return Fail(StatusCode::kIo, "it is not to be linked");
}

// All records there are, then each new one.
Status Server::Link(const std::shared_ptr<Session>& session) {
  pair_.link = session;
  pair_.records = pair_.stored = 0;
  pair_.counts = true;
  for (Held& held : held_) held.records = 0;
  Header welcome = HeaderOf(FrameType::kWelcome);
  welcome.seq = pair_.term;
  welcome.holds = pair_.birth;
  session->channel.Send(welcome);
  MXC_RT_RETURN_IF_ERROR(WritePair());
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
  for (Held& held : held_) held.records = pair_.records;
  return {};
}

Status Server::HandlePartner(const std::shared_ptr<Session>& session,
                             const Frame& frame) {
  if (session == pair_.dial) {
    return frame.type == FrameType::kWelcome && !IsLater(frame)
               ? OnWelcome(frame)
               : OnPartner(frame);
  }
  if (session != pair_.link) return Fail(StatusCode::kIo, "it is not linked");
  if (frame.type == FrameType::kAbort) {
    return ended_ = Fail(StatusCode::kFailed, "the primary: %s",
                         std::string(frame.text()).c_str());
  }
  if (frame.type == FrameType::kBye && pair_.role == PairRole::kBackup) {
    dismissed_ = true;
    return {};
  }
  if (frame.type == FrameType::kRecord && pair_.role == PairRole::kBackup) {
    const Status status = OnRecord(*session, frame);
    // Half a record was taken, perhaps: the primary gives it all again.
    if (!status.ok()) pair_.whole = false;
    return status;
  }
  if (frame.type == FrameType::kStored && pair_.role == PairRole::kPrimary) {
    pair_.stored = std::min(frame.seq, pair_.records);
    SayHeld();
    return {};
  }
  return Fail(StatusCode::kInvalidArgument, "a partner does not send type %d",
              static_cast<int>(frame.type));
}

// This one is a backup from now on.
Status Server::OnWelcome(const Frame& frame) {
  const bool fresh = pair_.role == PairRole::kFresh;
  if (pair_.role == PairRole::kPrimary || frame.seq < pair_.term ||
      (!fresh && frame.holds != pair_.birth)) {
    return Fail(StatusCode::kIo, "it is no primary for this backup");
  }
  pair_.whole = pair_.whole && frame.seq == pair_.term;
  pair_.role = PairRole::kBackup;
  pair_.term = frame.seq;
  pair_.birth = frame.holds;
  pair_.link = std::move(pair_.dial);
  pair_.dial = nullptr;
  pair_.records = 0;
  return WritePair();
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
  if (!record) return Fail(StatusCode::kCorrupt, "a record is damaged");
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
  session.marked = pair_.whole = true;
  return journal_ ? BeginJournal() : Status();
}

// What the other one is that did not want to be linked. If it is new, the
// primary before is dead.
Status Server::OnPartner(const Frame& frame) {
  if (frame.type == FrameType::kPartner && IsLater(frame)) return Supersede();
  if (frame.type == FrameType::kPartner && frame.holds == 0 &&
      pair_.role == PairRole::kBackup) {
    pair_.lost -= 2 * options_.patience.heartbeat;
  }
  return Fail(StatusCode::kIo, "the partner is not to be linked");
}

void Server::DropPartner(Session& session, Time now) {
  if (pair_.link.get() == &session) {
    pair_.link = nullptr;
    pair_.lost = now;
    pair_.next = now;
  }
  if (pair_.dial.get() == &session) {
    pair_.dial = nullptr;
    pair_.next = now + PauseBetweenCalls();
  }
}

// A primary only wants to hear of a later term.
Time Server::PauseBetweenCalls() const {
  return pair_.role == PairRole::kPrimary ? options_.patience.heartbeat
                                          : kPause;
}

Status Server::PumpPair(Time now) {
  if (pair_.role == PairRole::kNone) return {};
  CountFollowers();
  if (pair_.link != nullptr) {
    if (pair_.role == PairRole::kPrimary && finished()) {
      pair_.link->channel.Send(HeaderOf(FrameType::kBye));
      // A backup that does not hear it finds out that all workers have left.
      (void)pair_.link->channel.Pump(now).ok();
    }
    return {};
  }
  const Patience& patience = options_.patience;
  const Time alone = now - std::max(pair_.lost, began_);
  const bool primary = pair_.role == PairRole::kPrimary;
  if (primary && pair_.counts && alone > patience.heartbeat) {
    return BeginTerm(now, "the backup is lost");
  }
  if (!primary && alone > patience.arrival && !finished()) {
    return Fail(StatusCode::kIo, "%s: no primary and no worker is there",
                options_.pair.name.c_str());
  }
  if (pair_.dial == nullptr && now >= pair_.next) Dial(now);
  return {};
}

void Server::Dial(Time now) {
  pair_.next = now + PauseBetweenCalls();
  auto connected = transport_.Connect(options_.pair.partner);
  if (connected.ok() && options_.pair.tls != nullptr) {
    connected = options_.pair.tls->Secure(std::move(*connected));
  }
  if (!connected.ok()) return;
  pair_.dial =
      std::make_shared<Session>(std::move(*connected), options_.patience, now);
  pair_.dial->partner = true;
  pair_.dial->channel.Send(PartnerHeader(), EncodeText(PartnerText()));
  sessions_.push_back(pair_.dial);
}

}  // namespace mxc::kvstore
