// SPDX-License-Identifier: Apache-2.0
// mxc kv status: how jobs are doing, as a table that is drawn again each second.
#include <glob.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/terminal.h"
#include "runtime/base/visible.h"
#include "runtime/job/metrics.h"
#include "tools/run/output.h"
#include "tools/run/subcommand.h"

namespace mxc::run {
namespace {

using Json = nlohmann::ordered_json;

struct StatusOptions {
  std::vector<std::string> files;
};

// Those that launchers of this machine write.
std::vector<std::string> FilesOfJobs() {
  const std::string pattern =
      (std::filesystem::temp_directory_path() / "mxc-job-*" / "metrics")
          .string();
  glob_t found = {};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      files.emplace_back(found.gl_pathv[i]);
    }
  }
  globfree(&found);
  return files;
}

std::string TextOf(const std::string& path) {
  const auto file = Take(runtime::MappedFile::Open(path));
  const auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What there is of each process of a pair: is_primary, is_paired, term.
constexpr std::string_view kPair = "mxc_server_";

// The rows of a job, by role and rank.
using Rows = std::map<std::pair<std::string, int>, Json>;

int NumberOf(const job::Sample& sample, const char* label) {
  const auto found = sample.labels.find(label);
  return found == sample.labels.end() ? 0 : std::atoi(found->second.c_str());
}

// A worker is as far as the server says that has least of it, and in the state
// that most servers see last.
void AddSample(const job::Sample& sample, Rows& rows) {
  const auto row = [&](const char* role, const char* label) -> Json& {
    return rows[{role, NumberOf(sample, label)}];
  };
  const auto whole = static_cast<uint64_t>(sample.value);
  if (sample.name == "mxc_process_up") {
    Json& of = rows[{sample.labels.at("role"), NumberOf(sample, "rank")}];
    of["machine"] = sample.labels.at("machine");
    of["state"] = whole != 0 ? "up" : "ended";
  } else if (sample.name == "mxc_process_starts_total") {
    rows[{sample.labels.at("role"), NumberOf(sample, "rank")}]["starts"] =
        whole;
  } else if (sample.name == "mxc_rounds_total") {
    row("server", "server")["rounds"] = whole;
  } else if (sample.name == "mxc_received_bytes_total") {
    row("server", "server")["received"] = whole;
  } else if (sample.name == "mxc_sent_bytes_total") {
    row("server", "server")["sent"] = whole;
  } else if (sample.name.starts_with(kPair)) {
    rows[{sample.labels.at("role"), NumberOf(sample, "rank")}]
        [sample.name.substr(kPair.size())] = whole;
  } else if (sample.name == "mxc_worker_rounds_total") {
    Json& of = row("worker", "worker");
    of["rounds"] = std::min(whole, of.value("rounds", whole));
  } else if (sample.name == "mxc_worker_silence_seconds") {
    Json& of = row("worker", "worker");
    of["silence"] = std::max(sample.value, of.value("silence", 0.0));
  } else if (sample.name == "mxc_worker_state" && whole == 1) {
    const std::string& state = sample.labels.at("state");
    Json& of = row("worker", "worker")["state"];
    if (state != "there" || of == "up") of = state;
  }
}

// How far a worker is behind the one that is farthest.
void AddDistances(Rows& rows) {
  uint64_t farthest = 0;
  for (const auto& [key, row] : rows) {
    if (key.first == "worker") {
      farthest = std::max(farthest, row.value("rounds", uint64_t{0}));
    }
  }
  for (auto& [key, row] : rows) {
    if (key.first != "worker" || !row.contains("rounds")) continue;
    row["behind"] = farthest - row["rounds"].get<uint64_t>();
  }
}

// What a process of a pair is, while it runs.
void AddPairStates(Rows& rows) {
  for (auto& [key, row] : rows) {
    if (!row.contains("term") || row.value("state", "") != "up") continue;
    const bool paired = row.value("is_paired", 0) != 0;
    row["state"] = row.value("is_primary", 0) != 0
                       ? (paired ? "primary" : "alone")
                       : (paired ? "backup" : "begins");
  }
}

Json JobOf(const std::string& path) {
  Json job = {{"file", path}};
  Rows rows;
  for (const job::Sample& sample : Take(job::ParseMetrics(TextOf(path)))) {
    if (sample.name == "mxc_job_info") {
      job["id"] = NumberOf(sample, "id");
      job["command"] = sample.labels.at("command");
    } else if (sample.name == "mxc_job_start_time_seconds") {
      job["seconds"] = std::time(nullptr) - std::llround(sample.value);
    } else if (sample.name == "mxc_job_restarts_total") {
      job["restarts"] = static_cast<uint64_t>(sample.value);
    }
    AddSample(sample, rows);
  }
  AddDistances(rows);
  AddPairStates(rows);
  job["processes"] = Json::array();
  for (auto& [key, row] : rows) {
    Json process = {{"role", key.first}, {"rank", key.second}};
    process.update(row);
    job["processes"].push_back(process);
  }
  return job;
}

// What a launcher that was killed has left is no job.
bool IsOver(const Json& job) {
  return kill(job.value("id", 0), 0) != 0 && errno == ESRCH;
}

// The jobs that there are; one that ends while it is read is none.
Json Jobs(const StatusOptions& options) {
  Json jobs = Json::array();
  for (const std::string& path : FilesOfJobs()) {
    if (!options.files.empty() || access(path.c_str(), R_OK) != 0) continue;
    Json job = JobOf(path);
    if (!IsOver(job)) jobs.push_back(std::move(job));
  }
  for (const std::string& path : options.files) jobs.push_back(JobOf(path));
  return jobs;
}

std::string NumberText(const Json& of, const char* name, const char* format) {
  if (!of.contains(name)) return "";
  char text[32];
  std::snprintf(text, sizeof text, format, of[name].get<double>());
  return text;
}

// Rounds since the table before, a second ago: `before` has the same processes.
std::string RateText(const Json& process, const Json& before) {
  for (const Json& old : before) {
    if (old["role"] != process["role"] || old["rank"] != process["rank"] ||
        !old.contains("rounds") || !process.contains("rounds")) {
      continue;
    }
    const double rounds =
        process["rounds"].get<double>() - old["rounds"].get<double>();
    return rounds < 0 ? "" : std::to_string(std::llround(rounds));
  }
  return "";
}

Json ProcessesOf(const Json& jobs, const Json& job) {
  for (const Json& one : jobs) {
    if (one["file"] == job["file"]) return one["processes"];
  }
  return Json::array();
}

void Draw(const Json& jobs, const Json& before) {
  for (const Json& job : jobs) {
    PrintOut("job %d for %lld s, restarts %d: %s\n", job.value("id", 0),
             static_cast<long long>(job.value("seconds", int64_t{0})),
             job.value("restarts", 0),
             runtime::Visible(job.value("command", "")).c_str());
    PrintOut("  %-10s %-12s %-9s %6s %9s %9s %6s %8s\n", "process", "machine",
             "state", "starts", "rounds", "rounds/s", "behind", "silent s");
    const Json old = ProcessesOf(before, job);
    for (const Json& process : job["processes"]) {
      const std::string name = process["role"].get<std::string>() + " " +
                               std::to_string(process["rank"].get<int>());
      PrintOut("  %-10s %-12s %-9s %6s %9s %9s %6s %8s\n", name.c_str(),
               runtime::Visible(process.value("machine", "")).c_str(),
               runtime::Visible(process.value("state", "")).c_str(),
               NumberText(process, "starts", "%.0f").c_str(),
               NumberText(process, "rounds", "%.0f").c_str(),
               RateText(process, old).c_str(),
               NumberText(process, "behind", "%.0f").c_str(),
               NumberText(process, "silence", "%.1f").c_str());
    }
  }
}

int ShowStatus(const StatusOptions& options, bool json) {
  Json jobs = Jobs(options);
  if (json) {
    PrintJson({{"jobs", jobs}});
    return 0;
  }
  if (jobs.empty()) throw Failure("no job of this user runs here");
  if (!runtime::RedrawsLines(STDOUT_FILENO)) {
    Draw(jobs, Json::array());
    return 0;
  }
  for (Json before = Json::array(); !jobs.empty(); jobs = Jobs(options)) {
    std::fputs("\x1b[H\x1b[2J", stdout);  // home, and nothing there
    Draw(jobs, before);
    std::fflush(stdout);
    before = std::move(jobs);
    sleep(1);
  }
  return 0;
}

}  // namespace

Command AddKv(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<StatusOptions>();
  app.require_subcommand(1);
  CLI::App* status = app.add_subcommand(
      "status", "how jobs are doing: a table, on a terminal each second anew");
  status->add_option("FILE", options->files,
                     "what mxc launch --metrics FILE writes (default: the jobs "
                     "that were started on this machine)");
  status->add_flag("--json", reporting.json, "one JSON object, once");
  status->footer(
      "examples:\n"
      "  mxc kv status\n"
      "  mxc kv status --json job.prom");
  app.footer("more: mxc kv status --help");
  return [options, &reporting] {
    reporting.exit_code = ShowStatus(*options, reporting.json);
  };
}

}  // namespace mxc::run
