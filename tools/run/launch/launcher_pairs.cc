// SPDX-License-Identifier: Apache-2.0
// Servers that are two processes.
#include <signal.h>

#include "runtime/base/clock.h"
#include "tools/run/launch/launcher.h"

namespace mxc::run {
namespace {

// A process that is younger is not the one that somebody has lost: nobody is
// before it was silent for 4 s.
constexpr int64_t kYoung = 3'000'000'000;
constexpr int kUnreached = 255;  // as of ssh: it has no connection

}  // namespace

bool Launcher::IsCutOff(int code) const {
  return options_.on == "ssh" && code == kUnreached;
}

// The other process of a server's pair; null: there is none.
Process* Launcher::PartnerOf(const Process& process) const {
  const std::string role = process.role() == "server"   ? "backup"
                           : process.role() == "backup" ? "server"
                                                        : "";
  for (const auto& other : processes_) {
    if (other->role() == role && other->rank() == process.rank()) {
      return other.get();
    }
  }
  return nullptr;
}

// Whatever it does, it has lost its place, and can be started again as a backup.
void Launcher::EndPartnerOf(const Process& process) {
  const Process* partner = PartnerOf(process);
  if (partner != nullptr &&
      runtime::Nanoseconds() - partner->started > kYoung) {
    partner->Kill(SIGKILL);
  }
}

// When all workers and one of each server's processes have finished, the others
// have nothing to do: one that stands still, or was started again too late.
void Launcher::DismissBackups() {
  for (const auto& process : processes_) {
    const Process* partner = PartnerOf(*process);
    if (process->role() == "worker" && process->id() > 0) return;
    if (partner != nullptr && !process->finished && !partner->finished) return;
  }
  for (const auto& process : processes_) {
    if (process->id() > 0) process->Kill(SIGKILL);
  }
}

}  // namespace mxc::run
