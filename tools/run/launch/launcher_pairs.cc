// SPDX-License-Identifier: Apache-2.0
// Servers that are two processes: the launcher is their arbiter.
#include <signal.h>

#include "runtime/base/clock.h"
#include "runtime/job/term_lines.h"
#include "tools/run/launch/launcher.h"

namespace mxc::run {
namespace {

// Who is left out of a term says so sooner, unless it stands still.
constexpr int64_t kDeaf = 3'000'000'000;
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

// Only a server of a pair says so; if it is dead by now, the other one is better
// for what it wanted. Both hear the answer.
void Launcher::OnProposal(Process& process, const kvstore::Proposal& proposal) {
  Process* partner = PartnerOf(process);
  if (partner == nullptr || process.id() == 0) return;
  kvstore::Arbiter& arbiter = arbiters_[process.rank()];
  const kvstore::Term before = arbiter.term();
  const kvstore::Term term =
      arbiter.Hear(process.role() == "backup" ? 1 : 0, proposal);
  if (proposal.birth != process.birth || proposal.after == term.number) {
    process.left_out = 0;
  }
  process.birth = proposal.birth;
  process.Tell(job::EncodeTerm(term));
  if (term.number == before.number) return;
  partner->Tell(job::EncodeTerm(term));
  LeaveOut(*partner, before, term);
}

// What the partner's proposal says of the process.
void Launcher::LeaveOut(Process& process, const kvstore::Term& before,
                        const kvstore::Term& term) {
  if (term.primary == 0 || term.backup != 0 || before.backup == 0) return;
  const uint64_t birth =
      term.primary == before.primary ? before.backup : before.primary;
  if (process.birth == birth) process.left_out = runtime::Nanoseconds();
}

// It can be started again, as a backup that knows nothing.
void Launcher::EndLeftOut() {
  for (const auto& process : processes_) {
    if (process->left_out == 0 ||
        runtime::Nanoseconds() - process->left_out < kDeaf) {
      continue;
    }
    process->left_out = 0;
    process->Kill(SIGKILL);
  }
}

bool Launcher::GoesOnWithout(const Process& process) {
  return PartnerOf(process)->id() > 0 &&
         !arbiters_[process.rank()].Needs(process.role() == "backup" ? 1 : 0);
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
