// SPDX-License-Identifier: Apache-2.0
// What the processes of a job are told, and where they run.
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/kvstore/credentials.h"
#include "tools/run/failure.h"
#include "tools/run/launch/kubernetes.h"
#include "tools/run/launch/launcher.h"
#include "tools/run/output.h"

extern char** environ;

namespace mxc::run {
namespace {

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

// What another machine is told of this one's environment.
Process::Environment Exported() {
  Process::Environment exported;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == std::string_view::npos ||
        !(name == "PATH" || name == "LD_LIBRARY_PATH" ||
          name.starts_with("MXC_"))) {
      continue;
    }
    exported[std::string(name)] = text.substr(equals + 1);
  }
  return exported;
}

// As execvp finds a program.
bool CanRun(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return access(program.c_str(), X_OK) == 0;
  }
  std::istringstream folders(std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (folder.empty() ? "." : folder) + "/" + program;
    if (access(path.c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string LineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

// A job runs the mxc that launches it, where PATH knows none.
void Launcher::FindCommand() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
  if (!error) {
    setenv("PATH", (folders + ":" + self.parent_path().string()).c_str(), 1);
  }
  const std::string& program = options_.command.front();
  if (!machines_.empty() || CanRun(program)) return;
  throw Failure("cannot start '" + program +
                "': it is no program here, nor in a folder of PATH");
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

void Launcher::FindMachines() {
  if (options_.on == "slurm") machines_ = MachinesOfSlurm();
  if (options_.on == "ssh") machines_ = MachinesOf(options_.hosts);
  if (!options_.etcd.empty() && options_.transport != "tcp") {
    throw Failure("--etcd is for --transport tcp");
  }
  if (machines_.empty()) return;
  if (options_.plain || options_.transport != "tcp") {
    throw Failure("--plain and --transport unix are for one machine");
  }
}

// Of the servers' pods, whose addresses are the cluster's to choose. 0: none.
uint32_t Launcher::MetricsPort() const {
  if (!options_.metrics.empty()) {
    throw Failure(
        "--metrics FILE is written by a launcher, and --on kubernetes leaves "
        "none; --metrics-listen PORT has each server serve its own");
  }
  const std::string& place = options_.metrics_place;
  if (place.empty()) return 0;
  constexpr uint32_t kLastPort = 65535;
  uint32_t port = 0;
  const char* end = place.data() + place.size();
  const auto parsed = std::from_chars(place.data(), end, port);
  const bool legal = parsed.ec == std::errc() && parsed.ptr == end &&
                     port > 0 && port <= kLastPort && port != options_.port;
  if (legal) return port;
  throw Failure("--metrics-listen is '" + place +
                "', expected with --on kubernetes a port from 1 to 65535 other "
                "than --port");
}

void Launcher::PrintManifests() {
  if (options_.image.empty() || options_.plain || !options_.etcd.empty() ||
      options_.on_death == OnDeath::kRestart || options_.replicas > 0) {
    throw Failure(
        "--on kubernetes needs --image, and knows neither --plain, --etcd, "
        "--replicas nor --on-death restart");
  }
  Deployment job;
  job.name = options_.name;
  job.image = options_.image;
  job.volume = options_.volume;
  job.workers = options_.workers;
  job.servers = options_.servers;
  job.port = options_.port;
  job.on_loss = OnLossOf(options_.on_death);
  job.restarts = options_.on_death == OnDeath::kAbort ? 0 : options_.restarts;
  job.keys["server.key"] = LineOf(folder_.File("server.key")) + "\n";
  for (uint32_t rank = 0; rank < options_.workers; ++rank) {
    const std::string file = kvstore::WorkerIdentity(rank) + ".key";
    job.keys[file] = LineOf(folder_.File(file)) + "\n";
  }
  job.metrics = MetricsPort();
  job.command = options_.command;
  PrintOut("%s", ManifestsOf(job).c_str());
}

// Servers are on the first machines, the backup of each on the one behind it,
// workers on those behind servers.
const Machine& Launcher::MachineOf(const Process& process) const {
  if (process.role() == "worker") {
    return machines_[(process.rank() + options_.servers) % machines_.size()];
  }
  const size_t number = process.rank() + (process.role() == "backup" ? 1 : 0);
  return homes_[number % homes_.size()];
}

// Where a server or a backup listens: on this machine, from now on.
std::string Launcher::Listen(const std::string& role, uint32_t rank) {
  const bool backup = role == "backup";
  if (!machines_.empty()) {
    const uint32_t offset = rank + (backup ? options_.servers : 0);
    return MachineOf(Process(role, rank)).address + ":" +
           std::to_string(options_.port + offset);
  }
  const std::string address =
      options_.transport == "unix"
          ? "unix:" + folder_.File(role + "-" + std::to_string(rank))
          : "127.0.0.1:0";
  listeners_.push_back(Take(transport_->Listen(address)));
  return listeners_.back()->address();
}

// On this machine before anybody asks for them; they stay when all begin again.
void Launcher::OpenPorts() {
  if (!options_.etcd.empty()) {
    addresses_ = std::to_string(options_.servers);
    return;
  }
  if (machines_.empty() && !listeners_.empty()) return;
  addresses_.clear();
  homes_ = machines_;
  for (uint32_t rank = 0; rank < options_.servers; ++rank) {
    addresses_ += (rank > 0 ? "," : "") + Listen("server", rank);
    if (options_.replicas > 0) addresses_ += "|" + Listen("backup", rank);
  }
}

void Launcher::ServeMetrics() {
  if (options_.metrics_place.empty()) return;
  metrics_ =
      Take(job::MetricsServer::Listen(*transport_, options_.metrics_place));
  PrintErr("metrics are at http://%s/metrics\n", metrics_->address().c_str());
}

void Launcher::AddServers() {
  if (!options_.journal.empty()) journals_.emplace(options_.journal);
  for (uint32_t rank = 0; rank < options_.servers; ++rank) {
    AddServer("server", rank);
    if (options_.replicas > 0) AddServer("backup", rank);
  }
}

void Launcher::AddServer(const std::string& role, uint32_t rank) {
  Process& server = Add(role, rank, "server.key");
  server.environment["MXC_ON_LOSS"] = OnLossOf(options_.on_death);
  server.environment["MXC_STATUS"] = "1";
  if (options_.replicas > 0) {
    server.environment["MXC_TERMS"] = "1";
    server.hears = true;
  }
  if (!listeners_.empty()) {
    const size_t each = 1 + options_.replicas;
    const size_t number = rank * each + (role == "backup" ? 1 : 0);
    const int port = listeners_[number]->descriptor();
    server.inherited = {port};
    server.environment["MXC_LISTEN"] = "fd:" + std::to_string(port);
  }
  if (options_.journal.empty()) return;
  server.environment["MXC_JOURNAL"] =
      journals_->File(role + "-" + std::to_string(rank));
}

// Worker 0 speaks for the job, and its bar of progress needs the terminal.
void Launcher::AddWorkers() {
  for (uint32_t rank = 0; rank < options_.workers; ++rank) {
    Process& worker =
        Add("worker", rank, kvstore::WorkerIdentity(rank) + ".key");
    worker.environment["LOCAL_RANK"] =
        std::to_string(machines_.empty() ? rank : rank / machines_.size());
    worker.environment["MXC_INCARNATION"] = std::to_string(incarnations_);
    if (rank > 0) continue;
    worker.pipes_output = false;
    worker.pipes_errors = !options_.log.empty() || !machines_.empty() ||
                          isatty(STDERR_FILENO) == 0;
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
  if (!options_.etcd.empty()) {
    process.environment["MXC_ETCD"] = options_.etcd;
    process.environment["MXC_JOB"] = options_.name;
    process.environment["MXC_REPLICAS"] = std::to_string(options_.replicas);
  }
  if (!options_.plain) process.environment["MXC_KEY"] = folder_.File(key);
  process.pipes_output = process.pipes_errors = true;
  process.is_group = !machines_.empty();
  return process;
}

Order Launcher::OrderFor(const Process& process) const {
  Order order;
  order.folder = std::filesystem::current_path().string();
  order.environment = Exported();
  for (const auto& [name, value] : process.environment) {
    order.environment[name] = value;
  }
  order.key = LineOf(process.environment.at("MXC_KEY"));
  order.command = options_.command;
  return order;
}

void Launcher::Start(Process& process) {
  process.finished = false;
  process.birth = 0;
  process.left_out = 0;
  if (machines_.empty()) return process.Start(options_.command);
  const Machine& machine = MachineOf(process);
  process.machine = machine.name;
  process.Start(AttendantOn(machine, options_.on), Encode(OrderFor(process)));
}

void Launcher::StartAll() {
  try {
    for (auto& process : processes_) Start(*process);
  } catch (...) {
    KillAll(SIGKILL);
    throw;
  }
}

}  // namespace mxc::run
