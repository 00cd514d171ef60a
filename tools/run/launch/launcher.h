// SPDX-License-Identifier: Apache-2.0
// The processes of a job, on this machine or on others. The launcher makes the
// job's secret and a key for each worker, says where servers listen, and decides
// what follows when a process dies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/job/metrics.h"
#include "runtime/job/metrics_server.h"
#include "runtime/kvstore/arbiter.h"
#include "runtime/kvstore/transport/sockets.h"
#include "tools/run/launch/job_folder.h"
#include "tools/run/launch/job_log.h"
#include "tools/run/launch/machines.h"
#include "tools/run/launch/order.h"
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
  uint32_t replicas = 0;  // of each server: 0 or 1
  std::string transport = "tcp";
  // Where processes run: local, on this machine; or through ssh or slurm on
  // others, which have the same folders. There, server 0 listens at `port`,
  // server 1 at the next.
  // With kubernetes, nothing is started: what would be is printed.
  std::string on = "local";
  std::string image, volume;  // for kubernetes
  std::string name = "mxc";   // of the job, for kubernetes and etcd
  std::string hosts;          // for ssh
  uint32_t port = 7400;
  std::string etcd;  // its addresses; empty: `port` says where servers are
  bool plain = false;
  std::string journal;  // a folder; empty: none
  OnDeath on_death = OnDeath::kAbort;
  uint32_t restarts = 100;    // at most
  std::string log;            // a file; empty: none
  std::string metrics;        // a file; empty: the job's own alone
  std::string metrics_place;  // a port or ADDRESS:PORT; empty: none
  std::vector<std::string> command;
};

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options);

  // Until all processes have ended: the job's exit status, as of a shell.
  int Run();

 private:
  // launcher_setup.cc
  void MakeKeys();
  void FindMachines();
  void FindCommand();
  void OpenPorts();
  void ServeMetrics();
  void PrintManifests();
  uint32_t MetricsPort() const;
  void AddServers();
  void AddWorkers();
  Process& Add(const std::string& role, uint32_t rank, const std::string& key);
  void Start(Process& process);
  void StartAll();
  const Machine& MachineOf(const Process& process) const;
  std::string Listen(const std::string& role, uint32_t rank);
  void AddServer(const std::string& role, uint32_t rank);
  Order OrderFor(const Process& process) const;

  void Await();
  void OnSignals();
  void InterruptAgain();
  void Hear(Process& process, const std::string& line);
  void OnEnd(Process& process, int status);
  std::string HowItEnded(const Process& process, int code);
  void OnDeathOf(Process& process, int code);
  void RestartAll();
  void Fail(const std::string& cause, int code);
  void KillAll(int signal);
  void RequireProgress();

  // launcher_pairs.cc
  Process* PartnerOf(const Process& process) const;
  bool IsCutOff(int code) const;
  void OnProposal(Process& process, const kvstore::Proposal& proposal);
  void LeaveOut(Process& process, const kvstore::Term& before,
                const kvstore::Term& term);
  void EndLeftOut();
  bool GoesOnWithout(const Process& process);
  void DismissBackups();

  void WriteMetrics();
  job::JobFacts facts() const;
  bool running() const;

  const LaunchOptions& options_;
  const JobFolder folder_;
  std::optional<JobFolder> journals_;
  JobLog log_;
  std::vector<Machine> machines_;  // empty: this one
  std::vector<Machine> homes_;     // of servers, whose addresses are known
  runtime::Descriptor signals_;
  std::unique_ptr<kvstore::Transport> transport_;
  std::vector<std::unique_ptr<kvstore::Listener>> listeners_;
  std::unique_ptr<job::MetricsServer> metrics_;
  std::string addresses_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<uint32_t, kvstore::Arbiter> arbiters_;  // of pairs, by rank
  uint32_t restarts_ = 0;
  uint32_t incarnations_ = 1;
  int64_t restarting_ = 0;  // all are being ended to begin again: since when
  int64_t failed_ = 0;      // since when
  int64_t beaten_ = 0;      // when attendants last heard of the launcher
  const double began_;      // in seconds since 1970
  bool asked_to_stop_ = false;
  bool interrupted_ = false;  // by Ctrl-C
  int result_ = 0;
};

}  // namespace mxc::run
