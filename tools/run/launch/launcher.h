// SPDX-License-Identifier: Apache-2.0
// The processes of a job on this machine. The launcher makes the job's secret
// and a key for each worker, opens the servers' ports before anybody asks for
// them, and decides what follows when a process dies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kvstore/transport/sockets.h"
#include "tools/run/launch/job_folder.h"
#include "tools/run/launch/job_log.h"
#include "tools/run/launch/process.h"

namespace mxc::run {

// What follows when a process is killed, or a worker is not heard of any more.
enum class OnDeath {
  kAbort,    // the job ends
  kWait,     // the others wait for a process that takes a worker's place
  kShrink,   // they go on without the worker, unless it is worker 0
  kRestart,  // all processes begin again from the newest checkpoint
};

struct LaunchOptions {
  uint32_t workers = 2, servers = 1;
  std::string transport = "tcp";
  bool plain = false;
  std::string journal;  // a folder; empty: none
  OnDeath on_death = OnDeath::kAbort;
  uint32_t restarts = 100;  // at most
  std::string log;          // a file; empty: none
  std::vector<std::string> command;
};

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options);

  // Until all processes have ended: the job's exit status, as of a shell.
  int Run();

 private:
  void MakeKeys();
  void AddServers();
  void AddWorkers();
  Process& Add(const std::string& role, uint32_t rank, const std::string& key);
  void StartAll();
  void Await();
  void OnSignals();
  void OnNotices();
  void OnEnd(Process& process, int status);
  void OnDeathOf(Process& process, int code);
  void RestartAll();
  void Fail(const std::string& cause, int code);
  void KillAll(int signal);
  bool running() const;

  const LaunchOptions& options_;
  const JobFolder folder_;
  JobLog log_;
  runtime::Descriptor signals_;
  runtime::Descriptor notices_, notices_in_;  // a pipe: who is lost
  std::string notice_;                        // a line of it, as far as it goes
  std::unique_ptr<kvstore::Transport> transport_;
  std::vector<std::unique_ptr<kvstore::Listener>> listeners_;
  std::string addresses_;
  std::vector<std::unique_ptr<Process>> processes_;
  uint32_t restarts_ = 0;
  uint32_t incarnations_ = 1;
  bool restarting_ = false;  // all are being ended, to begin again
  int64_t failed_ = 0;       // since when
  bool asked_to_stop_ = false;
  int result_ = 0;
};

}  // namespace mxc::run
