// SPDX-License-Identifier: Apache-2.0
// A server as one of two (pair.h): what has to be stored before it answers, and
// its terms.
#include <algorithm>
#include <utility>

#include "runtime/kvstore/server.h"
#include "runtime/kvstore/session.h"

namespace mxc::kvstore {

// --- 2: what is answered is stored

bool Server::MaySay(uint64_t records) const {
  if (pair_.birth == 0) return true;
  return IsPrimary() && (pair_.counts == 0 ||
                         (pair_.link != nullptr && pair_.stored >= records));
}

void Server::Say(const std::shared_ptr<Session>& session, const Header& header,
                 Body body, int64_t priority) {
  if (session == nullptr) return;
  if (held_.empty() && MaySay(pair_.records)) {
    return session->channel.Send(header, std::move(body), priority);
  }
  held_.push_back({pair_.records, session, header, std::move(body), priority});
}

void Server::SayHeld() {
  while (!held_.empty() && MaySay(held_.front().records)) {
    Held held = std::move(held_.front());
    held_.pop_front();
    const auto session = held.to.lock();
    if (session == nullptr || session->over) continue;
    session->channel.Send(held.header, std::move(held.body), held.priority);
  }
}

Status Server::Append(const JournalRecord& record) {
  if (!journal_ && pair_.link == nullptr) return {};
  std::vector<std::byte> bytes = EncodeRecord(record);
  if (journal_) MXC_RT_RETURN_IF_ERROR(journal_->AppendEncoded(bytes));
  if (pair_.link != nullptr) SendRecord(std::move(bytes));
  return {};
}

void Server::SendRecord(std::vector<std::byte> record) {
  ++pair_.records;
  pair_.link->channel.Send(HeaderOf(FrameType::kRecord),
                           Own(std::move(record)));
}

// --- terms

bool Server::IsPrimary() const {
  return pair_.birth != 0 && pair_.term.primary == pair_.birth;
}

// A primary whose backup is out of reach may be the server or not.
bool Server::IsUnsure() const {
  return IsPrimary() && pair_.counts != 0 && pair_.link == nullptr;
}

// What it says to the arbiter; nothing: it is content. A primary is a little
// faster, as workers are connected to it.
std::optional<Proposal> Server::Wish(Time now) const {
  const Time heartbeat = options_.patience.heartbeat;
  const Proposal asks = {pair_.birth, pair_.term.number, 0, 0};
  const Proposal alone = {pair_.birth, pair_.term.number, pair_.birth, 0};
  if (!pair_.heard || pair_.term.number == 0) {
    return options_.pair.first ? alone : asks;
  }
  if (IsUnsure() && now - pair_.lost > heartbeat / 2) return alone;
  if (IsPrimary() && pair_.counts != pair_.term.backup &&
      pair_.stored >= pair_.first) {
    return Proposal{pair_.birth, pair_.term.number, pair_.birth, pair_.counts};
  }
  if (IsPrimary() || pair_.link != nullptr || now - pair_.lost <= heartbeat) {
    return std::nullopt;
  }
  return pair_.term.backup == pair_.birth ? alone : asks;
}

// What may have been taken is said again until it is answered, and nothing else
// is proposed.
void Server::Propose(Time now) {
  if (!pair_.proposal) {
    const auto wish = Wish(now);
    if (!wish) return;
    if (wish->primary != 0) pair_.proposal = wish;
    if (wish != pair_.said) pair_.next_words = now;
    pair_.said = *wish;
  }
  if (now < pair_.next_words) return;
  pair_.next_words = now + kSecond;
  options_.pair.propose(pair_.said);
}

void Server::OnTerm(const Term& term) {
  if (!ended_.ok() || pair_.birth == 0 ||
      (pair_.heard && term.number <= pair_.term.number)) {
    return;
  }
  const bool was_primary = IsPrimary();
  pair_.heard = true;
  pair_.term = term;
  if (pair_.proposal && pair_.proposal->after < term.number) {
    pair_.proposal.reset();
  }
  if (term.number > 0 && term.primary == 0) {
    ended_ = Fail(StatusCode::kFailed,
                  "%s and its backup were lost together, and what they knew "
                  "with them",
                  options_.pair.name.c_str());
    return;
  }
  if (was_primary && !IsPrimary()) return Supersede();
  // So that it is known to be alive, if the term goes on without it.
  options_.pair.propose({pair_.birth, term.number, 0, 0});
  if (!IsPrimary()) return;
  pair_.counts = term.backup;
  if (!was_primary) BecomePrimary();
  if (pair_.counts == 0) GoOnAlone(was_primary);
}

void Server::BecomePrimary() {
  for (auto* session : {&pair_.link, &pair_.dial}) {
    if (*session != nullptr) (*session)->over = true;
    *session = nullptr;
  }
  pair_.lost = began_ = transport_.Now();
}

void Server::GoOnAlone(bool was_primary) {
  const Time now = transport_.Now();
  for (Worker& worker : workers_) {
    if (worker.incarnation == 0 || worker.session != nullptr) continue;
    worker.heard = worker.lost = now;
    worker.awaited = true;
    worker.told = false;
    worker.cause = "it did not come to the process that is the server now";
  }
  if (options_.alone && pair_.term.number > 1) {
    options_.alone(Format("in term %llu: the %s is lost",
                          static_cast<unsigned long long>(pair_.term.number),
                          was_primary ? "backup" : "primary"));
  }
  SayHeld();
}

// Only a primary answers workers. Who knows a later term finds it elsewhere, as
// others do when it has been unsure for long.
Status Server::RequirePrimary(const Header& hello, Time now) const {
  const bool unsure =
      IsUnsure() && now - pair_.lost > options_.patience.silence;
  if (pair_.birth == 0 ||
      (IsPrimary() && !unsure && hello.seq <= pair_.term.number)) {
    return {};
  }
  return Fail(StatusCode::kBusy, "this process is not the server");
}

// 5: nothing is left that another Server would begin with.
void Server::Supersede() {
  superseded_ = true;
  if (journal_) journal_->Remove();
  ended_ =
      Fail(StatusCode::kBusy, "the other process of this server has its place");
}

// --- what a journal has of it: that the process is the one from before

Status Server::WritePair() {
  if (!journal_ || pair_.birth == 0) return {};
  JournalRecord record;
  record.kind = JournalRecord::Kind::kPair;
  record.applied = {pair_.birth};
  return journal_->Append(record);
}

void Server::RestorePair(const JournalRecord& record) {
  if (pair_.birth == 0 || record.applied.size() != 1) return;
  pair_.birth = record.applied[0];
}

}  // namespace mxc::kvstore
