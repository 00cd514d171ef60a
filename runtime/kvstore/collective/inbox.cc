// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/inbox.h"

#include <algorithm>
#include <utility>

namespace mxc::kvstore {
namespace {

uint64_t SizeOf(const Header& header) {
  return (header.flags & kNoBytes) != 0 ? 0 : header.total;
}

Status DoesNotFit() {
  return Fail(StatusCode::kCorrupt,
              "a worker sends what no other has asked for");
}

}  // namespace

Status Inbox::Ask(uint64_t slot, std::span<std::byte> bytes, Done done) {
  Messages& messages = slots_[slot];
  const auto early = std::ranges::find_if(
      messages, [](const Message& message) { return message.done == nullptr; });
  if (early == messages.end()) {
    Message& message = messages.emplace_back();
    message.size = bytes.size();
    message.to = bytes;
    message.done = std::move(done);
    return {};
  }
  early->to = bytes;
  early->done = std::move(done);
  early_ -= early->size;
  if (early->size != bytes.size()) return DoesNotFit();
  Finish(slot);
  return {};
}

Inbox::Message* Inbox::Next(uint64_t slot) {
  const auto found = slots_.find(slot);
  if (found == slots_.end()) return nullptr;
  const auto next = std::ranges::find_if(
      found->second, [](const Message& message) { return !message.whole; });
  return next == found->second.end() ? nullptr : &*next;
}

std::span<std::byte> Inbox::Place(const Header& header) {
  Message* const message = Next(header.seq);
  if (message == nullptr || message->size != header.total ||
      message->have != header.offset) {
    return {};
  }
  return message->memory().subspan(header.offset, header.length);
}

// The first part of a message that nobody has asked for yet.
Status Inbox::Keep(const Frame& frame) {
  const uint64_t size = SizeOf(frame);
  if (size > most_early_ - early_ || frame.offset != 0) return DoesNotFit();
  early_ += size;
  Message& message = slots_[frame.seq].emplace_back();
  message.size = size;
  message.own.resize(size);
  return {};
}

Status Inbox::Take(const Frame& frame) {
  if (Next(frame.seq) == nullptr) MXC_RT_RETURN_IF_ERROR(Keep(frame));
  Message& message = *Next(frame.seq);
  if (message.size != SizeOf(frame)) return DoesNotFit();
  if (message.size > 0) {
    if (message.have != frame.offset) return DoesNotFit();
    const auto to = message.memory().subspan(frame.offset, frame.length);
    if (to.data() != frame.payload.data()) {
      CopyBytes(frame.payload, to);
    }
    message.have += frame.length;
  }
  message.whole = message.have == message.size;
  Finish(frame.seq);
  return {};
}

// Hands out what is there and asked for.
void Inbox::Finish(uint64_t slot) {
  Messages& messages = slots_[slot];
  while (!messages.empty() && messages.front().whole &&
         messages.front().done != nullptr) {
    const Message message = std::move(messages.front());
    messages.pop_front();
    CopyBytes(message.own, message.to);
    message.done({});
  }
  if (messages.empty()) slots_.erase(slot);
}

bool Inbox::waits() const {
  return std::ranges::any_of(slots_, [](const auto& slot) {
    return std::ranges::any_of(slot.second, [](const Message& message) {
      return message.done != nullptr;
    });
  });
}

void Inbox::Fail(const Status& cause) {
  for (auto& [slot, messages] : std::exchange(slots_, {})) {
    for (Message& message : messages) {
      if (message.done != nullptr) message.done(cause);
    }
  }
}

}  // namespace mxc::kvstore
