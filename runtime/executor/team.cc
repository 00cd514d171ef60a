// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/team.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/float_mode.h"
#include "runtime/base/spin.h"
#include "runtime/base/trace.h"

namespace mxc::runtime {
namespace {

// The team in whose run this thread takes part.
thread_local const Team* at_work_for = nullptr;

void FutexWait(std::atomic<uint32_t>& word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void FutexWakeAll(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

// The chunks that a thread begins with. `next` holds the generation it was last
// used in and, in the lower bits, the next chunk to take; it needs no reset
// between phases.
struct alignas(128) Team::Member {
  std::atomic<uint64_t> next{0};
  std::atomic<bool> inside{false};  // reads phases and work
  Team* team = nullptr;
  int thread = 0;
  bool started = false;
  pthread_t handle{};
};

Team::Team(int threads)
    : thread_count_(threads),
      process_(getpid()),
      members_(std::make_unique<Member[]>(static_cast<size_t>(threads))),
      ticket_(Ticket{1} << kPhaseBits | kNoPhase) {}

StatusOr<std::shared_ptr<Team>> Team::Start(int threads) {
  std::shared_ptr<Team> team(new Team(threads));
  // Signals are the program's own threads' affair.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int error = 0;
  for (int t = 1; t < threads && error == 0; ++t) {
    Member& member = team->members_[t];
    member.team = team.get();
    member.thread = t;
    error = pthread_create(&member.handle, nullptr, &ThreadMain, &member);
    member.started = error == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) return team;
  return Fail(StatusCode::kOutOfMemory, "cannot start %d threads: %s", threads,
              std::strerror(error));
}

Team::~Team() {
  if (getpid() != process_) return;  // its threads stayed behind at a fork
  leave_.store(true);
  WakeAll();
  for (int t = 1; t < thread_count_; ++t) {
    if (members_[t].started) pthread_join(members_[t].handle, nullptr);
  }
}

Status Team::CheckCaller() const {
  if (at_work_for != this) return {};
  return Fail(StatusCode::kBusy,
              "its team is at work on the step that calls this run");
}

void Team::Run(std::span<const Phase> phases, Work& work, uint32_t first) {
  const std::lock_guard turn(turn_);
  const Team* before = std::exchange(at_work_for, this);
  if (work_ != &work) {
    AwaitIdle();
    phases_ = phases;
    work_ = &work;
  }
  const Ticket idle = ticket_.load(std::memory_order_relaxed);
  Open(GenerationOf(idle) + 1, first);
  Ticket now = idle;
  while (PhaseOf(now = AwaitChange(now)) != kNoPhase) Participate(now, 0);
  at_work_for = before;
}

void Team::Forget(const Work& work) {
  // Where the caller is at work, that is all that anybody does.
  if (at_work_for == this) return;
  const std::lock_guard turn(turn_);
  if (work_ != &work) return;
  AwaitIdle();
  work_ = nullptr;
}

// A thread says that it is inside before it looks which phase is open: who sees
// it outside while none is, is not seen by it.
void Team::AwaitIdle() {
  if (getpid() != process_) return;  // its threads stayed behind at a fork
  for (int t = 1; t < thread_count_; ++t) {
    while (members_[t].inside.load(std::memory_order_seq_cst)) sched_yield();
  }
}

void* Team::ThreadMain(void* argument) {
  Member& member = *static_cast<Member*>(argument);
  pthread_setname_np(pthread_self(), "mxc");
  Trace::NameThread("worker " + std::to_string(member.thread));
  const FloatMode mode;
  at_work_for = member.team;
  member.team->Serve(member.thread);
  return nullptr;
}

void Team::Serve(int thread) {
  Ticket now = Ticket{1} << kPhaseBits | kNoPhase;  // before the first run
  std::atomic<bool>& inside = members_[thread].inside;
  while ((now = AwaitChange(now)) != 0) {
    if (PhaseOf(now) == kNoPhase) continue;
    inside.store(true, std::memory_order_seq_cst);
    now = ticket_.load(std::memory_order_seq_cst);
    if (PhaseOf(now) != kNoPhase) Participate(now, thread);
    inside.store(false, std::memory_order_release);
  }
}

void Team::Participate(Ticket ticket, int thread) {
  const Phase& phase = phases_[PhaseOf(ticket)];
  const uint64_t generation = GenerationOf(ticket);
  const auto self = static_cast<uint32_t>(thread);
  if (self >= phase.participants) return;
  uint64_t done = 0;
  for (uint32_t i = 0; i < phase.participants; ++i) {
    Member& owner = members_[(self + i) % phase.participants];
    for (uint32_t chunk; TakeChunk(owner, phase, generation, &chunk); ++done) {
      work_->RunChunk(PhaseOf(ticket), chunk, thread, done == 0);
    }
  }
  if (done == 0) return;
  const uint64_t before =
      unfinished_.fetch_sub(done, std::memory_order_acq_rel);
  if (before != done) return;
  Open(generation + 1, work_->FinishPhase(PhaseOf(ticket), thread));
}

bool Team::TakeChunk(Member& owner, const Phase& phase, uint64_t generation,
                     uint32_t* chunk) {
  const auto index = static_cast<uint32_t>(&owner - members_.get());
  const uint64_t base = generation << kChunkBits;
  const uint64_t end = base + phase.FirstChunk(index + 1);
  uint64_t next = owner.next.load(std::memory_order_relaxed);
  for (;;) {
    const uint64_t mine = next >= base ? next : base + phase.FirstChunk(index);
    if (mine >= end) return false;  // none left, or a later phase is open
    if (owner.next.compare_exchange_weak(next, mine + 1,
                                         std::memory_order_relaxed)) {
      *chunk = static_cast<uint32_t>(mine - base);
      return true;
    }
  }
}

void Team::Open(uint64_t generation, uint32_t phase) {
  const uint64_t chunks = phase == kNoPhase ? 0 : phases_[phase].chunks;
  unfinished_.store(chunks, std::memory_order_relaxed);
  ticket_.store(generation << kPhaseBits | phase, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) WakeAll();
}

Team::Ticket Team::AwaitChange(Ticket seen) {
  Ticket now = seen;
  const bool has_changed = SpinUntil([&] {
    now = ticket_.load(std::memory_order_acquire);
    return now != seen;
  });
  return has_changed ? now : Sleep(seen);
}

Team::Ticket Team::Sleep(Ticket seen) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  Ticket now = seen;
  while (!leave_.load()) {
    const uint32_t wake = wake_.load(std::memory_order_seq_cst);
    now = ticket_.load(std::memory_order_seq_cst);
    if (now != seen || leave_.load()) break;
    FutexWait(wake_, wake);
  }
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  return now != seen ? now : 0;
}

void Team::WakeAll() {
  wake_.fetch_add(1, std::memory_order_seq_cst);
  FutexWakeAll(wake_);
}

}  // namespace mxc::runtime
