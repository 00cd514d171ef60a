// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/base/clock.h"
#include "runtime/kvstore/credentials.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"

namespace mxc::run {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
// After a failure: others tell their own reasons, then are asked to end, then
// are ended.
constexpr int64_t kAsk = 500 * kMillisecond, kEnd = 1500 * kMillisecond;
constexpr int kInterrupted = 130;  // as of a shell: stopped by SIGINT, saved

// As a shell tells it.
int CodeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// What a server is told; where all begin again, the launcher ends it.
const char* OnLossOf(OnDeath policy) {
  switch (policy) {
    case OnDeath::kAbort:
      return "abort";
    case OnDeath::kShrink:
      return "shrink";
    case OnDeath::kWait:
    case OnDeath::kRestart:
      return "wait";
  }
  return "abort";
}

bool WasKilled(int code) { return code > 128 && code != kInterrupted; }

std::string HowItEnded(const std::string& name, int code) {
  return name + (WasKilled(code)
                     ? " was killed by signal " + std::to_string(code - 128)
                     : " ended with status " + std::to_string(code));
}

}  // namespace

Launcher::Launcher(const LaunchOptions& options)
    : options_(options), log_(options.log) {}

int Launcher::Run() {
  if (!options_.plain) MakeKeys();
  transport_ = Take(kvstore::MakeSockets());
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Failure(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  notices_ = runtime::Descriptor(ends[0]);
  notices_in_ = runtime::Descriptor(ends[1]);
  AddServers();
  AddWorkers();
  // Ctrl-C is for the processes, which finish a step and save.
  signal(SIGINT, SIG_IGN);
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int one : {SIGCHLD, SIGTERM}) sigaddset(&awaited, one);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  signals_ =
      runtime::Descriptor(signalfd(-1, &awaited, SFD_NONBLOCK | SFD_CLOEXEC));
  StartAll();
  // Ports are the servers' now, and who dies refuses, unless it comes back.
  // A socket's name would go with its listener.
  const bool keep = options_.transport == "unix" || !options_.journal.empty() ||
                    options_.on_death != OnDeath::kAbort;
  if (!keep) listeners_.clear();
  while (running()) Await();
  return result_;
}

void Launcher::MakeKeys() {
  const kvstore::Credentials secret = Take(kvstore::MakeSecret());
  Require(kvstore::WriteCredentials(folder_.File("server.key"), secret));
  for (uint32_t rank = 0; rank < options_.workers; ++rank) {
    kvstore::Credentials worker;
    worker.identity = kvstore::WorkerIdentity(rank);
    worker.key = kvstore::DeriveKey(secret.key, worker.identity);
    Require(kvstore::WriteCredentials(folder_.File(worker.identity + ".key"),
                                      worker));
  }
}

void Launcher::AddServers() {
  for (uint32_t rank = 0; rank < options_.servers; ++rank) {
    const std::string address =
        options_.transport == "unix"
            ? "unix:" + folder_.File("server-" + std::to_string(rank))
            : "127.0.0.1:0";
    listeners_.push_back(Take(transport_->Listen(address)));
    addresses_ += (rank > 0 ? "," : "") + listeners_.back()->address();
  }
  for (uint32_t rank = 0; rank < options_.servers; ++rank) {
    Process& server = Add("server", rank, "server.key");
    const int port = listeners_[rank]->descriptor();
    server.inherited = {port, notices_in_.get()};
    server.environment["MXC_NOTICE"] =
        "fd:" + std::to_string(notices_in_.get());
    server.environment["MXC_ON_LOSS"] = OnLossOf(options_.on_death);
    server.environment["MXC_LISTEN"] = "fd:" + std::to_string(port);
    if (options_.journal.empty()) continue;
    server.environment["MXC_JOURNAL"] =
        options_.journal + "/server-" + std::to_string(rank);
  }
}

// Worker 0 speaks for the job, and its bar of progress needs the terminal.
void Launcher::AddWorkers() {
  for (uint32_t rank = 0; rank < options_.workers; ++rank) {
    Process& worker =
        Add("worker", rank, kvstore::WorkerIdentity(rank) + ".key");
    worker.environment["LOCAL_RANK"] = std::to_string(rank);
    worker.environment["MXC_INCARNATION"] = std::to_string(incarnations_);
    if (rank > 0) continue;
    worker.pipes_output = false;
    worker.pipes_errors = !options_.log.empty() || isatty(STDERR_FILENO) == 0;
  }
}

Process& Launcher::Add(const std::string& role, uint32_t rank,
                       const std::string& key) {
  Process& process =
      *processes_.emplace_back(std::make_unique<Process>(role, rank));
  process.environment = {{"MXC_ROLE", role},
                         {"RANK", std::to_string(rank)},
                         {"WORLD_SIZE", std::to_string(options_.workers)},
                         {"MXC_SERVERS", addresses_}};
  if (!options_.plain) process.environment["MXC_KEY"] = folder_.File(key);
  process.pipes_output = process.pipes_errors = true;
  return process;
}

void Launcher::StartAll() {
  try {
    for (auto& process : processes_) process->Start(options_.command);
  } catch (...) {
    KillAll(SIGKILL);
    throw;
  }
}

bool Launcher::running() const {
  return std::ranges::any_of(
      processes_, [](const auto& process) { return process->id() > 0; });
}

// What comes next: lines, ends of processes, signals.
void Launcher::Await() {
  std::vector<pollfd> waiting = {{signals_.get(), POLLIN, 0},
                                 {notices_.get(), POLLIN, 0}};
  for (const auto& process : processes_) {
    if (process->output() < 0) continue;
    waiting.push_back({process->output(), POLLIN, 0});
  }
  constexpr int kWhile = 100, kForEver = -1;  // ms
  poll(waiting.data(), waiting.size(), failed_ > 0 ? kWhile : kForEver);
  for (const auto& process : processes_) {
    process->ReadLines(
        [&](const std::string& line) { log_.Say(process->name(), line); },
        false);
  }
  OnSignals();
  OnNotices();
  int status = 0;
  for (pid_t id = 0; (id = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (const auto& process : processes_) {
      if (process->id() == id) OnEnd(*process, status);
    }
  }
  if (restarting_ && !running()) RestartAll();
  if (failed_ == 0) return;
  const int64_t since = runtime::Nanoseconds() - failed_;
  if (since > kAsk) KillAll(since > kEnd ? SIGKILL : SIGTERM);
}

// SIGTERM is for the workers, as Ctrl-C is; a second one is for all.
void Launcher::OnSignals() {
  signalfd_siginfo come = {};
  while (read(signals_.get(), &come, sizeof come) == sizeof come) {
    if (come.ssi_signo != SIGTERM) continue;
    if (std::exchange(asked_to_stop_, true)) KillAll(SIGTERM);
    for (const auto& process : processes_) {
      if (process->role() == "worker") process->Kill(SIGTERM);
    }
  }
}

// A worker that nobody hears of is dead, whatever its process does.
void Launcher::OnNotices() {
  char byte = 0;
  while (read(notices_.get(), &byte, 1) == 1) {
    if (byte != '\n') {
      notice_ += byte;
      continue;
    }
    for (const auto& process : processes_) {
      if (process->name() == "worker " + notice_) process->Kill(SIGKILL);
    }
    notice_.clear();
  }
}

void Launcher::OnEnd(Process& process, int status) {
  process.Ended();
  process.ReadLines(
      [&](const std::string& line) { log_.Say(process.name(), line); }, true);
  const int code = CodeOf(status);
  if (code == 0 || restarting_) return;
  // All are asked to stop, or none.
  if (code == kInterrupted && result_ == 0) result_ = code;
  if (code == kInterrupted || failed_ > 0) return;
  WasKilled(code) && !asked_to_stop_
      ? OnDeathOf(process, code)
      : Fail(HowItEnded(process.name(), code), code);
}

// A server that was killed goes on from its journal.
void Launcher::OnDeathOf(Process& process, int code) {
  const std::string cause = HowItEnded(process.name(), code);
  const OnDeath policy = options_.on_death;
  const bool is_worker = process.role() == "worker";
  const bool journaled = process.environment.contains("MXC_JOURNAL");
  if (is_worker && policy == OnDeath::kShrink && process.rank() != 0) {
    PrintErr("warning: %s; the job goes on without it\n", cause.c_str());
    return;
  }
  const bool replaced =
      is_worker && (policy == OnDeath::kWait || policy == OnDeath::kShrink);
  if (!journaled && !replaced && policy != OnDeath::kRestart) {
    return Fail(cause, code);
  }
  if (++restarts_ > options_.restarts) {
    return Fail(
        cause + " after " + std::to_string(options_.restarts) + " restarts",
        code);
  }
  if (replaced) {
    process.environment["MXC_INCARNATION"] = std::to_string(++incarnations_);
    process.environment["MXC_RESUME"] = "1";
  }
  if (journaled || replaced) {
    PrintErr("warning: %s; it is started again\n", cause.c_str());
    return process.Start(options_.command);
  }
  PrintErr("warning: %s; the job begins again from its newest checkpoint\n",
           cause.c_str());
  restarting_ = true;
  KillAll(SIGKILL);
}

// What journals hold is newer than the checkpoint.
void Launcher::RestartAll() {
  restarting_ = false;
  for (const auto& process : processes_) {
    process->environment["MXC_RESUME"] = "1";
    process->environment["MXC_INCARNATION"] = std::to_string(++incarnations_);
    const auto journal = process->environment.find("MXC_JOURNAL");
    if (journal == process->environment.end()) continue;
    journal->second = options_.journal + "/restart-" +
                      std::to_string(restarts_) + "-server-" +
                      std::to_string(process->rank());
  }
  StartAll();
}

void Launcher::Fail(const std::string& cause, int code) {
  PrintErr("error: %s; the job ends\n", cause.c_str());
  failed_ = runtime::Nanoseconds();
  result_ = code;
}

void Launcher::KillAll(int signal) {
  for (const auto& process : processes_) process->Kill(signal);
}

}  // namespace mxc::run
