// SPDX-License-Identifier: Apache-2.0
// Collectives: what the devices of a group do together. Each is a file in
// collectives/, written with what a Member can do, and a line in
// runtime/abi/collectives.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/abi/collective.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// A tensor that a device brings, and what it is to have. Both lie on it.
struct CollectiveTensor {
  const void* from = nullptr;
  void* to = nullptr;
  uint64_t from_bytes = 0, to_bytes = 0;
  uint8_t dtype = 0;  // a type flag of dtype.def
  size_t other = 0;   // of what goes one way: the other device's number
};

// One of the devices of a group, while all of them do one thing together. What
// it is asked for is put into the device's stream. The others are asked for the
// same in the same order, each from a thread of its own; what is sent and
// received of one tensor goes at once.
class Member {
 public:
  virtual ~Member() = default;

  virtual size_t number() const = 0;  // in the group
  virtual size_t count() const = 0;   // of the group

  // Each element's sum over the devices, of floats.
  virtual void Sum(const CollectiveTensor& tensor) = 0;
  // The same, of the elements of this device's part.
  virtual void SumPart(const CollectiveTensor& tensor) = 0;
  // What all devices bring, in their order.
  virtual void Gather(const CollectiveTensor& tensor) = 0;
  // To and from the device of that number, which receives or sends as much.
  virtual void Send(const void* from, uint64_t bytes, size_t device) = 0;
  virtual void Receive(void* to, uint64_t bytes, size_t device) = 0;
};

// One that is on the host. It has done what it is asked for when it returns; what
// it sends is read by then.
class HostMember : public Member {
 public:
  // Once something has failed, for good; nothing is received any more.
  virtual Status status() const = 0;
};

// What a collective does with one tensor, on each member.
using CollectiveFunction = void (*)(Member& member,
                                    const CollectiveTensor& tensor);

// Null if there is none of this name.
CollectiveFunction FindCollectiveFunction(std::string_view name);
// For tests: one more, before any thread asks.
void AddCollective(const CollectiveFacts& facts, CollectiveFunction function);

// The only device of its group: what it brings is what it has.
class LoneMember final : public Member {
 public:
  using CopyFunction =
      std::function<void(void* to, const void* from, uint64_t bytes)>;
  explicit LoneMember(CopyFunction copy) : copy_(std::move(copy)) {}

  size_t number() const override { return 0; }
  size_t count() const override { return 1; }
  void Sum(const CollectiveTensor& tensor) override { Keep(tensor); }
  void SumPart(const CollectiveTensor& tensor) override { Keep(tensor); }
  void Gather(const CollectiveTensor& tensor) override { Keep(tensor); }
  void Send(const void* from, uint64_t bytes, size_t device) override;
  void Receive(void* to, uint64_t bytes, size_t device) override;

 private:
  void Keep(const CollectiveTensor& tensor) {
    copy_(tensor.to, tensor.from, tensor.from_bytes);
  }
  void Deliver();

  const CopyFunction copy_;
  std::vector<std::pair<const void*, uint64_t>> sent_;
  std::vector<void*> wanted_;
};

}  // namespace mxc::runtime
