// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/metrics.h"

#include <cstdlib>
#include <sstream>

#include "runtime/base/metric_text.h"

namespace mxc::job {
namespace {

using Labels = runtime::MetricLabels;
using runtime::Metric;

constexpr kvstore::WorkerState kStates[] = {
    kvstore::WorkerState::kAwaited, kvstore::WorkerState::kThere,
    kvstore::WorkerState::kLost, kvstore::WorkerState::kGivenUp,
    kvstore::WorkerState::kFinished};

Labels LabelsOf(const ProcessFacts& process) {
  return {{"role", process.role}, {"rank", std::to_string(process.rank)}};
}

void AddJob(std::string& text, const JobFacts& job) {
  Metric(text, "mxc_job_info", "gauge", "What the job runs.")
      .Add({{"command", job.command}, {"id", std::to_string(job.id)}}, 1);
  Metric(text, "mxc_job_start_time_seconds", "gauge",
         "When the job began, in seconds since 1970.")
      .Add({}, job.began);
  Metric(text, "mxc_job_restarts_total", "counter",
         "How often processes were started again.")
      .Add({}, job.restarts);
}

void AddProcesses(std::string& text, const JobFacts& job) {
  Metric up(text, "mxc_process_up", "gauge", "Whether the process runs.");
  for (const ProcessFacts& process : job.processes) {
    Labels labels = LabelsOf(process);
    labels.emplace_back("machine", process.machine);
    up.Add(labels, process.up ? 1 : 0);
  }
  Metric starts(text, "mxc_process_starts_total", "counter",
                "How often the process was started.");
  for (const ProcessFacts& process : job.processes) {
    starts.Add(LabelsOf(process), process.starts);
  }
}

// Returns whether it is of the process that workers talk to: of a pair the
// primary, of several that were it the last one.
bool IsServer(const ProcessFacts& process, const JobFacts& job) {
  if (process.role == "worker") return false;
  const auto term = [](const ProcessFacts& of) {
    const bool primary = of.server.role == kvstore::PairRole::kPrimary;
    return primary ? of.server.term : 0;
  };
  for (const ProcessFacts& other : job.processes) {
    const bool partner = other.role != "worker" && other.role != process.role &&
                         other.rank == process.rank;
    if (!partner) continue;
    return term(process) > term(other) ||
           (term(process) == term(other) && process.role == "server");
  }
  return true;
}

// Of each process of a pair.
template <class Value>
void AddPairs(std::string& text, const JobFacts& job, const char* name,
              const char* help, Value value) {
  Metric metric(text, name, "gauge", help);
  for (const ProcessFacts& process : job.processes) {
    if (process.server.role == kvstore::PairRole::kNone) continue;
    metric.Add(LabelsOf(process), static_cast<double>(value(process.server)));
  }
}

// One sample of each server.
template <class Value>
void AddServers(std::string& text, const JobFacts& job, const char* name,
                const char* help, Value value) {
  Metric metric(text, name, "counter", help);
  for (const ProcessFacts& process : job.processes) {
    if (!IsServer(process, job)) continue;
    metric.Add({{"server", std::to_string(process.rank)}},
               static_cast<double>(value(process.server)));
  }
}

// What each server knows of each worker.
template <class AddSamples>
void AddWorkers(std::string& text, const JobFacts& job, const char* name,
                const char* type, const char* help, AddSamples add) {
  Metric metric(text, name, type, help);
  for (const ProcessFacts& process : job.processes) {
    if (!IsServer(process, job)) continue;
    for (size_t rank = 0; rank < process.server.workers.size(); ++rank) {
      add(metric,
          Labels{{"server", std::to_string(process.rank)},
                 {"worker", std::to_string(rank)}},
          process.server.workers[rank]);
    }
  }
}

// What servers know, of themselves and of workers.
void AddStores(std::string& text, const JobFacts& job) {
  using kvstore::ServerFacts;
  using kvstore::WorkerFacts;
  AddServers(text, job, "mxc_rounds_total", "Updates that all keys have had.",
             [](const ServerFacts& server) { return server.rounds; });
  AddServers(text, job, "mxc_received_bytes_total",
             "Bytes of gradients that came.",
             [](const ServerFacts& server) { return server.received; });
  AddServers(text, job, "mxc_sent_bytes_total", "Bytes of values that left.",
             [](const ServerFacts& server) { return server.sent; });
  AddPairs(text, job, "mxc_server_is_primary",
           "Whether workers talk to this process of a pair.",
           [](const ServerFacts& server) {
             return server.role == kvstore::PairRole::kPrimary;
           });
  AddPairs(text, job, "mxc_server_is_paired",
           "Whether the other process of the pair has the same records.",
           [](const ServerFacts& server) { return server.paired; });
  AddPairs(text, job, "mxc_server_term",
           "Number of the pair's term: it grows when who answers changes, or "
           "whether there is a backup.",
           [](const ServerFacts& server) { return server.term; });
  AddWorkers(text, job, "mxc_worker_rounds_total", "counter",
             "Rounds that the worker's pushes have reached.",
             [](Metric& metric, const Labels& labels, const WorkerFacts& of) {
               metric.Add(labels, static_cast<double>(of.rounds));
             });
  constexpr double kSecond = 1e9;
  AddWorkers(text, job, "mxc_worker_silence_seconds", "gauge",
             "Since the server heard the worker.",
             [](Metric& metric, const Labels& labels, const WorkerFacts& of) {
               metric.Add(labels, static_cast<double>(of.silence) / kSecond);
             });
  AddWorkers(text, job, "mxc_worker_state", "gauge",
             "1 of the state that the worker is in, 0 of the others.",
             [](Metric& metric, Labels labels, const WorkerFacts& of) {
               labels.emplace_back("state", "");
               for (const auto state : kStates) {
                 labels.back().second = NameOf(state);
                 metric.Add(labels, state == of.state ? 1 : 0);
               }
             });
}

// "a{b="c"} 1" from the labels on; where it goes on, or npos.
size_t ParseLabels(const std::string& line, size_t at, Sample& sample) {
  while (at < line.size() && line[at] != '}') {
    const size_t equals = line.find("=\"", at);
    if (equals == line.npos) return line.npos;
    std::string& value = sample.labels[line.substr(at, equals - at)];
    for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\' && ++at < line.size() && line[at] == 'n') {
        value += '\n';
      } else if (at < line.size()) {
        value += line[at];
      }
    }
    if (++at < line.size() && line[at] == ',') ++at;
  }
  return at < line.size() ? at + 1 : line.npos;
}

}  // namespace

const char* NameOf(kvstore::WorkerState state) {
  using kvstore::WorkerState;
  switch (state) {
    case WorkerState::kAwaited:
      return "awaited";
    case WorkerState::kThere:
      return "there";
    case WorkerState::kLost:
      return "lost";
    case WorkerState::kGivenUp:
      return "given up";
    case WorkerState::kFinished:
      return "finished";
  }
  return "";
}

std::string MetricsOf(const JobFacts& job) {
  std::string text;
  AddJob(text, job);
  AddProcesses(text, job);
  AddStores(text, job);
  return text;
}

std::string MetricsOf(uint32_t server, const kvstore::ServerFacts& facts) {
  JobFacts job;
  job.processes.push_back({"server", "", server, true, 1, facts});
  std::string text;
  AddStores(text, job);
  return text;
}

StatusOr<std::vector<Sample>> ParseMetrics(const std::string& text) {
  std::vector<Sample> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    Sample sample;
    size_t at = std::min(line.find_first_of("{ "), line.size());
    sample.name = line.substr(0, at);
    if (at < line.size() && line[at] == '{') {
      at = ParseLabels(line, at + 1, sample);
    }
    char* end = nullptr;
    const char* number = line.c_str() + std::min(at, line.size());
    sample.value = std::strtod(number, &end);
    if (end == number || *end != '\0') {
      return Fail(StatusCode::kCorrupt, "'%s' is no sample of a metric",
                  line.c_str());
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace mxc::job
