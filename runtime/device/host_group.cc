// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/host_group.h"

#include <algorithm>
#include <cstring>

namespace mxc::runtime {

class HostGroup::ThreadMember final : public HostMember {
 public:
  ThreadMember(HostGroup& group, size_t number)
      : group_(group), number_(number) {}

  size_t number() const override { return number_; }
  size_t count() const override { return group_.members_.size(); }
  void Sum(const CollectiveTensor&) override { RefuseSums(); }
  void SumPart(const CollectiveTensor&) override { RefuseSums(); }
  void Gather(const CollectiveTensor&) override { RefuseSums(); }
  void Send(const void* from, uint64_t bytes, size_t device) override {
    const auto* first = static_cast<const std::byte*>(from);
    group_.Send(number_, device, Message(first, first + bytes));
  }
  void Receive(void* to, uint64_t bytes, size_t device) override {
    Message message;
    if (!status_.ok()) return;
    if (!group_.Receive(device, number_, message)) {
      status_ = Fail(StatusCode::kFailed, "another stage has failed");
    } else if (message.size() != bytes) {
      status_ = Fail(StatusCode::kCorrupt,
                     "a stage sends %zu bytes where another one wants %zu",
                     message.size(), static_cast<size_t>(bytes));
    } else if (bytes > 0) {
      std::memcpy(to, message.data(), bytes);
    }
  }
  Status status() const override { return status_; }

 private:
  void RefuseSums() {
    status_ = Fail(StatusCode::kUnsupported,
                   "threads of a process sum nothing among themselves");
  }

  HostGroup& group_;
  const size_t number_;
  Status status_;
};

HostGroup::HostGroup(size_t count) {
  for (size_t number = 0; number < count; ++number) {
    members_.push_back(std::make_unique<ThreadMember>(*this, number));
  }
}

HostGroup::~HostGroup() = default;

HostMember& HostGroup::member(size_t number) { return *members_[number]; }

void HostGroup::Abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  changed_.notify_all();
}

bool HostGroup::empty() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(
      sent_, [](const auto& wire) { return wire.second.empty(); });
}

void HostGroup::Send(size_t from, size_t to, Message message) {
  const std::lock_guard lock(mutex_);
  sent_[{from, to}].push_back(std::move(message));
  changed_.notify_all();
}

bool HostGroup::Receive(size_t from, size_t to, Message& message) {
  std::unique_lock lock(mutex_);
  std::deque<Message>& wire = sent_[{from, to}];
  changed_.wait(lock, [&] { return aborted_ || !wire.empty(); });
  if (wire.empty()) return false;
  message = std::move(wire.front());
  wire.pop_front();
  return true;
}

}  // namespace mxc::runtime
