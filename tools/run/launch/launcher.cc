// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/launcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "runtime/base/clock.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/file_writer.h"
#include "runtime/job/job.h"
#include "runtime/job/term_lines.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"

namespace mxc::run {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
// After a failure: others tell their own reasons, then are asked to end, then
// are ended.
constexpr int64_t kAsk = 500 * kMillisecond, kEnd = 1500 * kMillisecond;
// Other machines that say nothing are not waited for.
constexpr int64_t kCut = 10'000 * kMillisecond;
constexpr int kInterrupted = 130;  // as of a shell: stopped by SIGINT, saved

bool WasKilled(int code) { return code > 128 && code != kInterrupted; }

}  // namespace

Launcher::Launcher(const LaunchOptions& options)
    : options_(options),
      log_(options.log),
      began_(static_cast<double>(std::time(nullptr))) {}

int Launcher::Run() {
  if (!options_.plain) MakeKeys();
  if (options_.on == "kubernetes") {
    PrintManifests();
    return 0;
  }
  transport_ = Take(kvstore::MakeSockets());
  FindMachines();
  FindCommand();
  OpenPorts();
  ServeMetrics();
  AddServers();
  AddWorkers();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, SIG_IGN);  // of processes, too, until they train
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int one : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&awaited, one);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  signals_ =
      runtime::Descriptor(signalfd(-1, &awaited, SFD_NONBLOCK | SFD_CLOEXEC));
  StartAll();
  // Ports are the servers' now, and who dies refuses, unless it comes back.
  // A socket's name would go with its listener.
  const bool keep = options_.transport == "unix" || !options_.journal.empty() ||
                    options_.on_death != OnDeath::kAbort ||
                    options_.replicas > 0;
  if (!keep) listeners_.clear();
  while (running()) Await();
  return result_;
}

bool Launcher::running() const {
  return std::ranges::any_of(
      processes_, [](const auto& process) { return process->id() > 0; });
}

// What comes next: lines, ends of processes, signals.
void Launcher::Await() {
  std::vector<pollfd> waiting = {{signals_.get(), POLLIN, 0}};
  for (const auto& process : processes_) {
    if (process->output() < 0) continue;
    waiting.push_back({process->output(), POLLIN, 0});
  }
  if (metrics_) {
    for (const auto& [descriptor, write, read] : metrics_->interests()) {
      const int events = (read ? POLLIN : 0) | (write ? POLLOUT : 0);
      waiting.push_back({descriptor, static_cast<short>(events), 0});
    }
  }
  constexpr int kSoon = 100, kWhile = 1000;  // ms
  poll(waiting.data(), waiting.size(), failed_ > 0 ? kSoon : kWhile);
  for (const auto& process : processes_) {
    process->ReadLines([&](const std::string& line) { Hear(*process, line); },
                       false);
  }
  if (metrics_) metrics_->Pump();
  OnSignals();
  int status = 0;
  for (pid_t id = 0; (id = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (const auto& process : processes_) {
      if (process->id() == id) OnEnd(*process, status);
    }
  }
  if (restarting_ > 0 && !running()) RestartAll();
  RequireProgress();
}

// What time brings: attendants hear of the launcher, and who should end and
// does not is ended.
void Launcher::RequireProgress() {
  const int64_t now = runtime::Nanoseconds();
  if (now - beaten_ > kBeat) {
    beaten_ = now;
    for (const auto& process : processes_) process->Beat();
    if (interrupted_) InterruptAgain();
    WriteMetrics();
  }
  if (options_.replicas > 0) {
    EndLeftOut();
    DismissBackups();
  }
  if (failed_ > 0 && now - failed_ > kAsk) {
    KillAll(now - failed_ > kEnd ? SIGKILL : SIGTERM);
  }
  const int64_t ending = std::max(failed_, restarting_);
  if (ending == 0 || now - ending < kCut) return;
  for (const auto& process : processes_) process->Cut();
}

// Ctrl-C and SIGTERM are for the workers, which finish a step and save; a second
// SIGTERM is for all. Processes of this machine have Ctrl-C from the terminal.
void Launcher::OnSignals() {
  signalfd_siginfo come = {};
  while (read(signals_.get(), &come, sizeof come) == sizeof come) {
    if (come.ssi_signo == SIGCHLD) continue;
    const bool interrupt = come.ssi_signo == SIGINT;
    interrupted_ = interrupted_ || interrupt;
    if (!interrupt && std::exchange(asked_to_stop_, true)) KillAll(SIGTERM);
    for (const auto& process : processes_) {
      if (process->role() != "worker") continue;
      if (interrupt && !process->attended()) continue;
      process->Kill(static_cast<int>(come.ssi_signo));
    }
  }
}

// A worker that does not train yet has ignored Ctrl-C; one that has heard it
// ignores it from then on.
void Launcher::InterruptAgain() {
  for (const auto& process : processes_) {
    if (process->role() != "worker" || process->attended()) continue;
    process->Kill(SIGINT);
  }
}

// A worker that a server does not hear of any more is dead, whatever its
// process does.
void Launcher::Hear(Process& process, const std::string& line) {
  if (auto status = job::DecodeStatus(line)) {
    process.status = std::move(*status);
    return;
  }
  if (const auto proposal = job::DecodeProposal(line)) {
    return OnProposal(process, *proposal);
  }
  log_.Say(process.name(), line);
  if (process.role() == "worker") return;
  for (const auto& worker : processes_) {
    if (worker->role() == "worker" &&
        line.starts_with(job::LossOf(worker->rank()))) {
      worker->Kill(SIGKILL);
    }
  }
}

void Launcher::OnEnd(Process& process, int status) {
  process.Ended();
  process.ReadLines([&](const std::string& line) { Hear(process, line); },
                    true);
  const int code = runtime::ExitCodeOf(status);
  process.finished = code == 0;
  if (code == 0 || restarting_ > 0) return;
  const Process* partner = PartnerOf(process);
  if (partner != nullptr && partner->finished && WasKilled(code)) return;
  // All are asked to stop, or none.
  if (code == kInterrupted && result_ == 0) result_ = code;
  if (code == kInterrupted || failed_ > 0) return;
  WasKilled(code) && !asked_to_stop_ ? OnDeathOf(process, code)
                                     : Fail(HowItEnded(process, code), code);
}

// The others go on without a machine that is gone, if processes may be
// elsewhere when they begin again.
std::string Launcher::HowItEnded(const Process& process, int code) {
  if (!IsCutOff(code)) {
    return process.name() +
           (WasKilled(code)
                ? " was killed by signal " + std::to_string(code - 128)
                : " ended with status " + std::to_string(code));
  }
  if (machines_.size() > 1 && options_.journal.empty()) {
    std::erase_if(machines_, [&](const Machine& machine) {
      return machine.name == process.machine;
    });
  }
  return process.name() + " is cut off, '" + process.machine +
         "' cannot be reached";
}

// A server that was killed goes on from its journal, or becomes the backup of
// the other process of its pair. That one goes on alone if the machine cannot be
// reached.
void Launcher::OnDeathOf(Process& process, int code) {
  const std::string cause = HowItEnded(process, code);
  const OnDeath policy = options_.on_death;
  const bool is_worker = process.role() == "worker";
  const bool paired = PartnerOf(process) != nullptr;
  const bool journaled = paired || process.environment.contains("MXC_JOURNAL");
  if (paired && IsCutOff(code) && GoesOnWithout(process)) {
    PrintErr("warning: %s; the job goes on without it\n", cause.c_str());
    return;
  }
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
  }
  if (journaled || replaced) process.environment["MXC_RESUME"] = "1";
  if (journaled || replaced) {
    PrintErr("warning: %s; it is started again\n", cause.c_str());
    return Start(process);
  }
  PrintErr("warning: %s; the job begins again from its newest checkpoint\n",
           cause.c_str());
  restarting_ = runtime::Nanoseconds();
  KillAll(SIGKILL);
}

// What journals hold is newer than the checkpoint.
void Launcher::RestartAll() {
  restarting_ = 0;
  arbiters_.clear();
  OpenPorts();
  for (const auto& process : processes_) {
    process->environment["MXC_RESUME"] = "1";
    process->environment["MXC_SERVERS"] = addresses_;
    process->environment["MXC_INCARNATION"] = std::to_string(++incarnations_);
    const auto journal = process->environment.find("MXC_JOURNAL");
    if (journal == process->environment.end()) continue;
    journal->second =
        journals_->File("restart-" + std::to_string(restarts_) + "-server-" +
                        std::to_string(process->rank()));
  }
  StartAll();
}

// What cannot be written is written a second later.
void Launcher::WriteMetrics() {
  const std::string text = job::MetricsOf(facts());
  for (const auto& path : {folder_.File("metrics"), options_.metrics}) {
    if (path.empty()) continue;
    runtime::FileWriter file(path);
    file.Append(text);
    (void)file.Commit(runtime::FileWriter::Sync::kNo).ok();
  }
  if (metrics_) metrics_->Publish(text);
}

job::JobFacts Launcher::facts() const {
  job::JobFacts facts;
  for (const std::string& word : options_.command) {
    facts.command += (facts.command.empty() ? "" : " ") + word;
  }
  facts.began = began_;
  facts.id = getpid();
  facts.restarts = restarts_;
  for (const auto& process : processes_) {
    facts.processes.push_back({process->role(), process->machine,
                               process->rank(), process->id() > 0,
                               process->starts(), process->status});
  }
  return facts;
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
