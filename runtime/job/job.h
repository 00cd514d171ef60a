// SPDX-License-Identifier: Apache-2.0
// This process as one of a job's: what `mxc launch`, or whoever starts jobs,
// tells it in its environment.
//
//   MXC_ROLE     worker, server, or backup: of the server of the same rank
//   RANK         from 0, among the workers or among the servers
//   WORLD_SIZE   how many workers there are
//   MXC_SERVERS  the servers' addresses, in order, separated by commas; of one
//                that has a backup both, "10.0.0.5:7400|10.0.0.6:7400"; where
//                etcd knows them, how many there are
//   MXC_REPLICAS 1: etcd knows a backup of each server, too
//   MXC_ETCD     addresses of etcd, separated by commas: http://10.0.0.5:2379
//   MXC_ETCD_CACERT, MXC_ETCD_CERT, MXC_ETCD_KEY  files of a TLS connection to it
//   MXC_JOB      what the job is called there
//   MXC_LISTEN   where a server listens, if not at its address: fd:3. Where etcd
//                knows the servers: any port of the address that etcd sees
//   MXC_JOURNAL  where a server keeps its journal; without one, a server that
//                ends is lost
//   MXC_ON_LOSS  what a server does when a worker is lost: abort (also where it
//                is not set), wait, shrink
//   MXC_INCARNATION  which process of this rank this is, a number that grows;
//                where it is not set, etcd's, or the time
//   MXC_RESUME   1: training goes on from its newest checkpoint, --resume or not
//   MXC_ARRIVAL  seconds within which all come (default: 60)
//   MXC_STATUS   1: a server says each second how the job is doing
//                (server_status.h)
//   MXC_TERMS    1: a server that has a backup, or is one, says by lines what it
//                proposes and hears on standard input which of them is the
//                server (term_lines.h); there is no pair without it
//   MXC_METRICS_LISTEN  where a server serves its metrics over HTTP: 0.0.0.0:9400,
//                or a port, for its machine alone
//   MXC_KEY      the file with its key (runtime/kvstore/credentials.h); without
//                one, nodes of one machine speak in the clear. From a server's a
//                worker makes its own
//
// Torchrun, and who starts jobs as it does, sets no MXC_ROLE: all are workers.
// Worker 0 has a server in a process beside it. When a worker dies, the job ends,
// and torchrun may start all workers again.
//
//   RANK, WORLD_SIZE, MXC_KEY, MXC_ARRIVAL  as above. In place of the first two
//                those of Open MPI, MVAPICH2, PMI and Slurm (foreign_ranks.h)
//   MASTER_ADDR  worker 0's machine
//   MASTER_PORT  the server listens at the next one
//   MXC_PORT     or at this one
//   LOCAL_WORLD_SIZE  where it is WORLD_SIZE, all workers are on one machine
//   TORCHELASTIC_RESTART_COUNT, SLURM_RESTART_COUNT  not 0: as MXC_RESUME
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/job/etcd/directory.h"
#include "runtime/job/status.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/worker.h"

namespace mxc::job {

struct Job {
  bool serves = false;
  bool first = true;   // of a server: not its backup
  bool hosts = false;  // a server, in a process beside the worker
  uint32_t rank = 0, workers = 1;
  // Addresses, or members of the directory; of one with a backup both, with '|'
  // between them.
  std::vector<std::string> servers;
  std::shared_ptr<Directory> directory;  // null: nobody asks etcd
  std::string listen;                    // of a server
  std::string key_file, journal;
  std::string metrics_place;  // of a server; empty: it serves none
  kvstore::OnLoss on_loss = kvstore::OnLoss::kAbort;
  uint64_t incarnation = 1;
  bool resumes = false, tells_status = false;
  kvstore::Time arrival = kvstore::Patience().arrival;

  // None: this process is alone. Fails where the environment contradicts itself
  // or is incomplete.
  static StatusOr<std::optional<Job>> OfEnvironment();
};

// Returns whether this process is one of a job, and whether it is the one that
// speaks for all of them.
bool InJob();
bool SpeaksForJob();
// What the environment lacks that makes this process one of several, as a
// sentence; empty: nothing. Alone it would write over the others' checkpoints.
std::string IncompleteJob();
// Returns whether the job has begun before, and goes on from its newest
// checkpoint.
bool JobResumes();

// Begins the line on stderr by which a server tells of a worker that is lost and
// does not end the job; why follows.
std::string LossOf(uint32_t rank);
// The address of one of a server's processes; empty where it has one alone.
std::string AddressOf(const std::string& server, bool first);

}  // namespace mxc::job
