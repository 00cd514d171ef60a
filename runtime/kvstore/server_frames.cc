// SPDX-License-Identifier: Apache-2.0
// What workers send to a server, and what it answers.
#include <utility>

#include "runtime/kvstore/server.h"
#include "runtime/kvstore/session.h"

namespace mxc::kvstore {

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

void Server::Commit(uint32_t worker, uint32_t key, uint64_t seq) {
  const auto& session = workers_[worker].session;
  if (session == nullptr) return;
  Header header = HeaderOf(FrameType::kCommit);
  header.key = key;
  header.seq = seq;
  Say(session, header);
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
  Say(workers_[worker].session, header, std::move(value), keys_[key].priority);
}

}  // namespace mxc::kvstore
