// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>

#include "runtime/job/foreign_ranks.h"
#include "runtime/job/job.h"
#include "runtime/kvstore/transport/address.h"

namespace mxc::job {
namespace {

// The user's, about the environment.
Status Wrong(std::string sentence) {
  return {StatusCode::kInvalidArgument, std::move(sentence)};
}

std::string Variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

bool NamesFirst() {
  return !Variable("MASTER_ADDR").empty() && !Variable("MASTER_PORT").empty();
}

// Who makes this process one of a job and is not mxc launch. Torchrun's jobs of
// one worker are jobs, too.
std::optional<ForeignRank> StarterOf() {
  if (!Variable("MXC_ROLE").empty()) return std::nullopt;
  const std::string rank = Variable("RANK"), size = Variable("WORLD_SIZE");
  if (NamesFirst() && !rank.empty() && !size.empty()) {
    return ForeignRank{"torchrun", "RANK", "WORLD_SIZE", rank, size};
  }
  return FindForeignRank();
}

// Whose variables are all there.
std::optional<ForeignRank> CompleteStarter() {
  auto starter = StarterOf();
  if (!starter || !NamesFirst() || starter->rank.empty() ||
      starter->size.empty()) {
    return std::nullopt;
  }
  return starter;
}

StatusOr<uint32_t> NumberOf(const std::string& name) {
  const std::string text = Variable(name.c_str());
  char* end = nullptr;
  const unsigned long number = std::strtoul(text.c_str(), &end, 10);
  constexpr unsigned long kMost = 1 << 16;
  if (text.empty() || *end != '\0' || text[0] == '-' || number > kMost) {
    const auto starter = CompleteStarter();
    return Wrong((starter ? starter->starter : "MXC_ROLE") +
                 " makes this process one of a job, but " + name + " is '" +
                 text + "', no number");
  }
  return static_cast<uint32_t>(number);
}

StatusOr<kvstore::OnLoss> LossOfEnvironment() {
  using kvstore::OnLoss;
  static const std::map<std::string, OnLoss> known = {
      {"", OnLoss::kAbort},
      {"abort", OnLoss::kAbort},
      {"wait", OnLoss::kWait},
      {"shrink", OnLoss::kShrink}};
  const std::string text = Variable("MXC_ON_LOSS");
  const auto found = known.find(text);
  if (found != known.end()) return found->second;
  return Wrong("MXC_ON_LOSS is '" + text + "', expected abort, wait or shrink");
}

// Later processes have larger numbers, also on other machines.
StatusOr<uint64_t> IncarnationOfEnvironment() {
  if (!Variable("MXC_INCARNATION").empty()) {
    MXC_RT_ASSIGN(const uint32_t number, NumberOf("MXC_INCARNATION"));
    return number;
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

StatusOr<kvstore::Time> ArrivalOfEnvironment() {
  if (Variable("MXC_ARRIVAL").empty()) return kvstore::Patience().arrival;
  MXC_RT_ASSIGN(const uint32_t seconds, NumberOf("MXC_ARRIVAL"));
  return seconds * kvstore::kSecond;
}

std::vector<std::string> PartsOf(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

StatusOr<std::shared_ptr<Directory>> DirectoryOfEnvironment() {
  EtcdOptions etcd;
  etcd.endpoints = PartsOf(Variable("MXC_ETCD"));
  if (etcd.endpoints.empty()) return std::shared_ptr<Directory>();
  etcd.authority = Variable("MXC_ETCD_CACERT");
  etcd.certificate = Variable("MXC_ETCD_CERT");
  etcd.key = Variable("MXC_ETCD_KEY");
  const std::string job = Variable("MXC_JOB");
  if (job.empty()) {
    return Wrong("MXC_ETCD names etcd, and MXC_JOB not what the job is called");
  }
  return Directory::Make(etcd, job);
}

// IPv6 has colons of its own.
std::string AnyPortOf(const std::string& address) {
  const bool bare = address.find(':') == std::string::npos;
  return (bare ? address : "[" + address + "]") + ":0";
}

// The server is on worker 0's machine. Torchrun itself listens at MASTER_PORT.
StatusOr<std::string> ServerOfTorchrun() {
  const bool named = !Variable("MXC_PORT").empty();
  MXC_RT_ASSIGN(uint32_t port, NumberOf(named ? "MXC_PORT" : "MASTER_PORT"));
  if (!named) ++port;
  constexpr uint32_t kLastPort = 65535;
  if (port > kLastPort) {
    return Wrong("MASTER_PORT is " + Variable("MASTER_PORT") +
                 " and no port follows it; MXC_PORT chooses another one");
  }
  const std::string end = ":" + std::to_string(port);
  const std::string host = Variable("MASTER_ADDR");
  const std::string here = Variable("LOCAL_WORLD_SIZE");
  const bool one_machine =
      here.empty() ? host == "localhost" : here == Variable("WORLD_SIZE");
  if (one_machine) return "127.0.0.1" + end;
  const bool bare = host.find(':') == std::string::npos;
  return (bare ? host : "[" + host + "]") + end;
}

Status RequireRank(const Job& job) {
  const size_t ranks = job.serves ? job.servers.size() : job.workers;
  if (!job.servers.empty() && job.rank < ranks) return {};
  return Fail(StatusCode::kInvalidArgument,
              "a job of %u workers and %zu servers has no %s %u", job.workers,
              job.servers.size(), job.serves ? "server" : "worker", job.rank);
}

// Whoever starts processes ends all of them when one fails, and may start them
// again.
StatusOr<Job> JobOfStarter(const ForeignRank& starter) {
  Job job;
  MXC_RT_ASSIGN(job.rank, NumberOf(starter.rank_name));
  MXC_RT_ASSIGN(job.workers, NumberOf(starter.size_name));
  MXC_RT_ASSIGN(std::string server, ServerOfTorchrun());
  job.servers = {std::move(server)};
  MXC_RT_RETURN_IF_ERROR(RequireRank(job));
  job.hosts = job.rank == 0;
  MXC_RT_ASSIGN(job.arrival, ArrivalOfEnvironment());
  MXC_RT_ASSIGN(job.incarnation, IncarnationOfEnvironment());
  if (!Variable("MXC_KEY").empty()) return job;
  MXC_RT_ASSIGN(const auto address, kvstore::ParseAddress(job.servers.front()));
  if (!address.local()) {
    return Wrong(
        starter.starter +
        "'s workers are on several machines, and MXC_KEY does not name "
        "the file with their job's key: (umask 077; echo mxc-kvstore-key "
        "server $(openssl rand -hex 32) >job.key) makes one, for all machines");
  }
  return job;
}

StatusOr<std::vector<std::string>> ServersOfEnvironment(bool in_directory) {
  if (!in_directory) return PartsOf(Variable("MXC_SERVERS"));
  std::vector<std::string> members;
  const bool pairs = Variable("MXC_REPLICAS") == "1";
  MXC_RT_ASSIGN(const uint32_t count, NumberOf("MXC_SERVERS"));
  for (uint32_t rank = 0; rank < count; ++rank) {
    const std::string number = "-" + std::to_string(rank);
    members.push_back("server" + number + (pairs ? "|backup" + number : ""));
  }
  return members;
}

// Of a server: its journal, what it tells, and where it listens.
Status ReadServer(Job& job) {
  if (AddressOf(job.servers[job.rank], job.first).empty()) {
    return Wrong("MXC_ROLE is backup, but MXC_SERVERS has no address for it");
  }
  if (!AddressOf(job.servers[job.rank], false).empty() &&
      Variable("MXC_TERMS") != "1") {
    return Wrong(
        "MXC_SERVERS gives this server a backup, but MXC_TERMS is not 1: "
        "nobody says which of them is the server, as mxc launch does");
  }
  MXC_RT_ASSIGN(job.on_loss, LossOfEnvironment());
  job.journal = Variable("MXC_JOURNAL");
  job.tells_status = Variable("MXC_STATUS") == "1";
  job.metrics_place = Variable("MXC_METRICS_LISTEN");
  job.listen = Variable("MXC_LISTEN");
  return {};
}

// The process enters etcd, if that has the job.
Status Enter(const std::string& role, Job& job) {
  if (job.directory != nullptr) {
    MXC_RT_ASSIGN(job.incarnation,
                  job.directory->Enter(role + "-" + std::to_string(job.rank),
                                       job.arrival));
    if (job.listen.empty()) {
      job.listen = AnyPortOf(job.directory->local_address());
    }
  }
  if (job.serves && job.listen.empty()) {
    job.listen = AddressOf(job.servers[job.rank], job.first);
  }
  return {};
}

StatusOr<Job> JobOfVariables() {
  const std::string role = Variable("MXC_ROLE");
  if (role != "worker" && role != "server" && role != "backup") {
    return Wrong("MXC_ROLE is '" + role +
                 "', expected worker, server or backup");
  }
  Job job;
  job.serves = role != "worker";
  job.first = role != "backup";
  MXC_RT_ASSIGN(job.rank, NumberOf("RANK"));
  MXC_RT_ASSIGN(job.workers, NumberOf("WORLD_SIZE"));
  MXC_RT_ASSIGN(job.directory, DirectoryOfEnvironment());
  MXC_RT_ASSIGN(job.servers, ServersOfEnvironment(job.directory != nullptr));
  MXC_RT_RETURN_IF_ERROR(RequireRank(job));
  if (job.serves) MXC_RT_RETURN_IF_ERROR(ReadServer(job));
  MXC_RT_ASSIGN(job.arrival, ArrivalOfEnvironment());
  MXC_RT_ASSIGN(job.incarnation, IncarnationOfEnvironment());
  MXC_RT_RETURN_IF_ERROR(Enter(role, job));
  return job;
}

}  // namespace

std::string LossOf(uint32_t rank) {
  return "warning: worker " + std::to_string(rank) + " is lost: ";
}

std::string AddressOf(const std::string& server, bool first) {
  const size_t bar = server.find('|');
  if (bar == std::string::npos) return first ? server : "";
  return first ? server.substr(0, bar) : server.substr(bar + 1);
}

bool InJob() { return !Variable("MXC_ROLE").empty() || CompleteStarter(); }

bool SpeaksForJob() {
  if (const auto starter = CompleteStarter()) return starter->rank == "0";
  return Variable("MXC_ROLE") == "worker" && Variable("RANK") == "0";
}

bool JobResumes() {
  for (const char* name :
       {"MXC_RESUME", "TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"}) {
    const std::string restarts = Variable(name);
    if (!restarts.empty() && restarts != "0") return InJob();
  }
  return false;
}

namespace {

// MXNet's launcher starts schedulers and servers that mxc does not speak with:
// its workers would each train alone.
std::string StartedByMxnet() {
  const std::string role = Variable("DMLC_ROLE");
  if (role.empty() || !Variable("MXC_ROLE").empty() ||
      Variable("DMLC_NUM_WORKER") == "1") {
    return "";
  }
  return "DMLC_ROLE is " + role +
         ", as MXNet's launcher sets it, whose jobs mxc does not join: mxc "
         "launch --workers N --servers M -- mxc train … begins one; a process "
         "that trains alone needs it unset";
}

}  // namespace

std::string IncompleteJob() {
  const auto starter = StarterOf();
  if (!starter) return StartedByMxnet();
  if (CompleteStarter()) return "";
  std::string text;
  const std::pair<std::string, std::string> told[] = {
      {starter->rank_name, starter->rank}, {starter->size_name, starter->size}};
  for (const auto& [name, value] : told) {
    text += (text.empty() ? "" : " and ") + name +
            (value.empty() ? " is not set" : " is " + value);
  }
  return text +
         (NamesFirst() ? ""
                       : ", but MASTER_ADDR and MASTER_PORT do not say where "
                         "worker 0 is") +
         ": processes that train together need all four, or mxc launch; one "
         "that trains alone needs the first two unset";
}

StatusOr<std::optional<Job>> Job::OfEnvironment() {
  const std::string incomplete = IncompleteJob();
  if (!incomplete.empty()) return Wrong(incomplete);
  if (!InJob()) return std::optional<Job>();
  const auto starter = CompleteStarter();
  MXC_RT_ASSIGN(Job job, starter ? JobOfStarter(*starter) : JobOfVariables());
  job.key_file = Variable("MXC_KEY");
  job.resumes = JobResumes();
  return std::optional(std::move(job));
}

}  // namespace mxc::job
