// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/unfinished_name.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

namespace mxc::runtime {
namespace {

enum SlotState : int {
  kSlotFree,
  kSlotReserved,
  kSlotRegistered,
  kSlotRemoving
};

// What a signal handler can read: no memory that somebody may free. Whoever
// changes the state from kSlotRegistered owns the slot.
struct NameSlot {
  std::atomic<int> state{kSlotFree};
  int folder = -1;
  char name[NAME_MAX + 1] = {};
};
static_assert(std::atomic<int>::is_always_lock_free);

std::array<NameSlot, 64> name_slots;

bool ChangeState(NameSlot& slot, int from, int to) {
  return slot.state.compare_exchange_strong(from, to);
}

// The action is reset and the signal not blocked: raising it ends the process.
void RemoveAndRaise(int signal) {
  RemoveUnfinished();
  raise(signal);
}

}  // namespace

UnfinishedName::UnfinishedName(int folder, const std::string& name) {
  for (size_t i = 0; i < name_slots.size() && name.size() <= NAME_MAX; ++i) {
    NameSlot& slot = name_slots[i];
    if (!ChangeState(slot, kSlotFree, kSlotReserved)) continue;
    slot.folder = folder;
    std::memcpy(slot.name, name.c_str(), name.size() + 1);
    slot.state = kSlotRegistered;
    slot_ = static_cast<int>(i);
    return;
  }
}

UnfinishedName::~UnfinishedName() {
  if (slot_ >= 0)
    ChangeState(name_slots[static_cast<size_t>(slot_)], kSlotRegistered,
                kSlotFree);
}

void RemoveUnfinished() {
  for (NameSlot& slot : name_slots) {
    if (ChangeState(slot, kSlotRegistered, kSlotRemoving)) {
      unlinkat(slot.folder, slot.name, 0);
    }
  }
}

void RemoveUnfinishedAtSignals() {
  struct sigaction ending = {}, before = {};
  ending.sa_handler = RemoveAndRaise;
  ending.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int signal :
       {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU}) {
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(signal, &ending, nullptr);
  }
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace mxc::runtime
