// SPDX-License-Identifier: Apache-2.0
// Threads of one process as the members of a group: what goes one way, through
// memory.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/device/collective.h"

namespace mxc::runtime {

class HostGroup {
 public:
  explicit HostGroup(size_t count);
  ~HostGroup();

  // Used by one thread at a time. It belongs to the group.
  HostMember& member(size_t number);
  // Whoever waits, or would, has failed, for good: a member does not go on.
  void Abort();
  // Returns whether all that was sent was received.
  bool empty() const;

 private:
  class ThreadMember;
  using Message = std::vector<std::byte>;

  void Send(size_t from, size_t to, Message message);
  // False: the group has been aborted.
  bool Receive(size_t from, size_t to, Message& message);

  std::vector<std::unique_ptr<ThreadMember>> members_;
  mutable std::mutex mutex_;  // of those that follow
  std::condition_variable changed_;
  std::map<std::pair<size_t, size_t>, std::deque<Message>> sent_;
  bool aborted_ = false;
};

}  // namespace mxc::runtime
