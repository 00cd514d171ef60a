// SPDX-License-Identifier: Apache-2.0
// What the compiler and the runtime both know of a collective: how much each
// device of a group has of a tensor before it and after it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mxc {

// What a device has afterwards, beside what it had.
enum class CollectiveGives : uint8_t {
  kSame,  // as much; then any number of devices may do it
  kPart,  // the part of its number, of as many equal parts as there are devices
  kAll,   // those of all devices, in their order
  // What goes from one device to another, whose number stands where the others
  // have how many devices there are. The one that sends has input 0, and then
  // f32[1], 0; the one that receives has then what was sent. It waits for what
  // makes the other inputs. Its operands lie on the host.
  kOneWay
};

struct CollectiveFacts {
  std::string_view name;  // mxc_step.kernel_name
  CollectiveGives gives = CollectiveGives::kSame;
  bool adds = false;  // up what the devices have, which are floats
};

// All of them. A test may add to the list, before any thread asks.
inline std::vector<CollectiveFacts>& Collectives() {
  static std::vector<CollectiveFacts> list = {
#define MXC_COLLECTIVE(name, Function, gives, adds) \
  {#name, CollectiveGives::gives, adds},
#include "runtime/abi/collectives.def"
  };
  return list;
}

// Null if there is none of this name.
inline const CollectiveFacts* FindCollective(std::string_view name) {
  for (const CollectiveFacts& facts : Collectives()) {
    if (facts.name == name) return &facts;
  }
  return nullptr;
}

// Returns whether `after` is what `members` devices (0: any number) have of
// tensors of so many bytes, or elements; not of what goes one way.
inline bool IsGiven(CollectiveGives gives, uint64_t before, uint64_t after,
                    uint64_t members) {
  if (gives == CollectiveGives::kSame) return before == after;
  const bool part = gives == CollectiveGives::kPart;
  const uint64_t whole = part ? before : after;
  return members > 0 && whole % members == 0 &&
         whole / members == (part ? after : before);
}

}  // namespace mxc
