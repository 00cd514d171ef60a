// SPDX-License-Identifier: Apache-2.0
// A server as one of two (pair.h): which of them answers workers, and what has to
// be stored before it does.
#include <algorithm>
#include <utility>

#include "runtime/kvstore/server.h"
#include "runtime/kvstore/session.h"

namespace mxc::kvstore {

// --- 1: what is answered is stored

bool Server::MaySay(uint64_t records) const {
  if (pair_.role == PairRole::kNone) return true;
  return pair_.followed &&
         (!pair_.counts || (pair_.link != nullptr && pair_.stored >= records));
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

// --- 2: terms

Status Server::RequirePrimary(const Header& hello, Time now) {
  const bool known = hello.holds == 0 || hello.holds == pair_.birth;
  if (pair_.role == PairRole::kNone) return {};
  if (pair_.role == PairRole::kPrimary) {
    const bool later = hello.holds == pair_.birth && hello.seq > pair_.term;
    return later ? Supersede() : Status();
  }
  const bool alone =
      pair_.link == nullptr && now - pair_.lost > options_.patience.heartbeat;
  if (pair_.role == PairRole::kBackup && pair_.whole && alone && known &&
      hello.seq <= pair_.term) {
    return BeginTerm(now, "the primary is lost");
  }
  return Fail(StatusCode::kBusy, "this process is not the server");
}

// Workers that were connected come again, and hear of the term.
Status Server::BeginTerm(Time now, const std::string& why) {
  if (pair_.link != nullptr) pair_.link->over = true;
  pair_.link = nullptr;
  pair_.role = PairRole::kPrimary;
  ++pair_.term;
  pair_.whole = pair_.counts = pair_.followed = false;
  pair_.next = now + options_.patience.heartbeat;
  held_.clear();
  const Status cause = Fail(StatusCode::kIo, "it did not follow the server");
  for (size_t i = 0; i < sessions_.size(); ++i) {
    const auto session = sessions_[i];
    if (session->known && !session->over) Drop(*session, cause, now);
  }
  began_ = now;
  for (Worker& worker : workers_) {
    worker.follows = false;
    if (worker.incarnation == 0) continue;
    worker.heard = worker.lost = now;
    worker.silent = true;  // it may find out later than the others
    worker.told = false;
    worker.cause = cause.message();
  }
  why_alone_ =
      Format("in term %llu: ", static_cast<unsigned long long>(pair_.term)) +
      why;
  CountFollowers();
  return WritePair();
}

void Server::Follow(uint32_t worker, uint64_t term) {
  workers_[worker].follows = term == pair_.term;
  CountFollowers();
}

void Server::CountFollowers() {
  if (pair_.role != PairRole::kPrimary || pair_.followed) return;
  pair_.followed = std::ranges::all_of(workers_, [](const Worker& worker) {
    return worker.follows || worker.left || worker.given_up;
  });
  if (!pair_.followed) return;
  if (options_.alone && !pair_.counts) options_.alone(why_alone_);
  SayHeld();
}

// 4: nothing is left that another Server would begin with.
Status Server::Supersede() {
  superseded_ = true;
  if (journal_) journal_->Remove();
  return ended_ = Fail(StatusCode::kBusy,
                       "the other process of this server has its place");
}

// --- what a journal has of it

JournalRecord Server::PairRecord() const {
  JournalRecord record;
  record.kind = JournalRecord::Kind::kPair;
  record.index = static_cast<uint32_t>(pair_.role);
  record.number = pair_.term;
  record.left = pair_.whole;
  record.lost = pair_.counts;
  record.applied = {pair_.birth};
  return record;
}

Status Server::WritePair() {
  const bool any = journal_ && pair_.birth != 0;
  return any ? journal_->Append(PairRecord()) : Status();
}

// Workers that it had may follow it as before, or another one by now.
void Server::RestorePair(const JournalRecord& record) {
  if (pair_.role == PairRole::kNone || record.applied.size() != 1) return;
  const bool primary =
      record.index == static_cast<uint32_t>(PairRole::kPrimary);
  pair_.role = primary ? PairRole::kPrimary : PairRole::kBackup;
  pair_.term = record.number;
  pair_.birth = record.applied[0];
  pair_.whole = record.left;
  pair_.counts = record.lost;
  pair_.followed = pair_.term == 1;
  pair_.lost = transport_.Now();
}

}  // namespace mxc::kvstore
