// SPDX-License-Identifier: Apache-2.0
// mxc launch: the processes of a job on this machine. It makes the job's secret
// and a key for each worker, opens the servers' ports before anybody asks for
// them, and ends all processes when one of them fails.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/kvstore/credentials.h"
#include "runtime/kvstore/transport/sockets.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/run/subcommand.h"

namespace mxc::run {
namespace {

struct LaunchOptions {
  uint32_t workers = 2, servers = 1;
  std::string transport = "tcp";
  bool plain = false;
  std::string journal;  // a folder; empty: none
  std::vector<std::string> command;
};

// A folder for keys and sockets, which goes with the launcher.
class JobFolder {
 public:
  JobFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "mxc-job-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw Failure("cannot make '" + name + "': " + std::strerror(errno));
    }
    path_ = name;
  }
  ~JobFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  JobFolder(const JobFolder&) = delete;
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

using Environment = std::map<std::string, std::string>;

struct Process {
  std::string name;  // "worker 1"
  Environment environment;
  int inherited = -1;       // a descriptor
  pid_t id = 0;             // 0: it has ended
  bool comes_back = false;  // if it is killed
};

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options) : options_(options) {}

  int Run() {
    if (!options_.plain) MakeKeys();
    transport_ = Take(kvstore::MakeSockets());
    AddServers();
    AddWorkers();
    // Ctrl-C is for the processes, which finish a step and save.
    signal(SIGINT, SIG_IGN);
    for (Process& process : processes_) Start(process);
    // Ports are the servers' now, and who dies refuses, unless it comes back.
    // A socket's name would go with its listener.
    const bool keep = options_.transport == "unix" || !options_.journal.empty();
    if (!keep) listeners_.clear();
    return Await();
  }

 private:
  void MakeKeys() {
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

  void AddServers() {
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
      server.inherited = listeners_[rank]->descriptor();
      server.environment["MXC_LISTEN"] =
          "fd:" + std::to_string(server.inherited);
      if (options_.journal.empty()) continue;
      server.comes_back = true;
      server.environment["MXC_JOURNAL"] =
          options_.journal + "/server-" + std::to_string(rank);
    }
  }

  void AddWorkers() {
    for (uint32_t rank = 0; rank < options_.workers; ++rank) {
      Process& worker =
          Add("worker", rank, kvstore::WorkerIdentity(rank) + ".key");
      worker.environment["LOCAL_RANK"] = std::to_string(rank);
    }
  }

  Process& Add(const std::string& role, uint32_t rank, const std::string& key) {
    Process& process = processes_.emplace_back();
    process.name = role + " " + std::to_string(rank);
    process.environment = {{"MXC_ROLE", role},
                           {"RANK", std::to_string(rank)},
                           {"WORLD_SIZE", std::to_string(options_.workers)},
                           {"MXC_SERVERS", addresses_}};
    if (!options_.plain) process.environment["MXC_KEY"] = folder_.File(key);
    return process;
  }

  void Start(Process& process) {
    process.id = fork();
    if (process.id < 0) {
      process.id = 0;
      const std::string cause = std::strerror(errno);
      End(SIGKILL);
      throw Failure("cannot start " + process.name + ": " + cause);
    }
    if (process.id > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    for (const auto& [name, value] : process.environment) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    if (process.inherited >= 0) fcntl(process.inherited, F_SETFD, 0);
    std::vector<char*> words;
    for (std::string word : options_.command) {
      words.push_back(strdup(word.c_str()));
    }
    words.push_back(nullptr);
    execvp(words[0], words.data());
    PrintErr("error: cannot start '%s': %s\n", words[0], std::strerror(errno));
    _exit(127);
  }

  void End(int signal) {
    for (const Process& process : processes_) {
      if (process.id > 0) kill(process.id, signal);
    }
  }

  // Until all have ended; the first that fails ends the others.
  int Await() {
    int result = 0;
    int64_t failed = 0;  // since when
    constexpr int64_t kSecond = 1'000'000'000;
    while (true) {
      int status = 0;
      const pid_t id = waitpid(-1, &status, failed > 0 ? WNOHANG : 0);
      if (id < 0 && errno == ECHILD) return result;
      if (id > 0) {
        if (failed == 0 && StartAgain(id, status)) continue;
        const int code = Report(id, status, result == 0);
        if (code != 0 && failed == 0) failed = runtime::Nanoseconds();
        if (result == 0) result = code;
      } else if (failed > 0) {
        const int64_t since = runtime::Nanoseconds() - failed;
        if (since > kSecond) End(since > 3 * kSecond ? SIGKILL : SIGTERM);
        usleep(20'000);
      }
    }
  }

  // A server that was killed goes on from its journal.
  bool StartAgain(pid_t id, int status) {
    for (Process& process : processes_) {
      if (process.id != id || !process.comes_back || !WIFSIGNALED(status)) {
        continue;
      }
      PrintErr("warning: %s was killed by signal %d; it is started again\n",
               process.name.c_str(), WTERMSIG(status));
      Start(process);
      return true;
    }
    return false;
  }

  // What a process ended with, as a shell tells it.
  int Report(pid_t id, int status, bool first) {
    for (Process& process : processes_) {
      if (process.id != id) continue;
      process.id = 0;
      const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      const int code = signal > 0 ? 128 + signal : WEXITSTATUS(status);
      if (code != 0 && first) {
        PrintErr(signal > 0
                     ? "error: %s was killed by signal %d; the job ends\n"
                     : "error: %s ended with status %d; the job ends\n",
                 process.name.c_str(), signal > 0 ? signal : code);
      }
      return code;
    }
    return 0;
  }

  const LaunchOptions& options_;
  const JobFolder folder_;
  std::unique_ptr<kvstore::Transport> transport_;
  std::vector<std::unique_ptr<kvstore::Listener>> listeners_;
  std::string addresses_;
  std::vector<Process> processes_;
};

}  // namespace

Command AddLaunch(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<LaunchOptions>();
  constexpr uint32_t kMost = 256;
  app.add_option("--workers", options->workers, "processes that compute")
      ->check(CLI::Range(1u, kMost))
      ->capture_default_str();
  app.add_option("--servers", options->servers,
                 "processes that keep and update parameters")
      ->check(CLI::Range(1u, kMost))
      ->capture_default_str();
  app.add_option("--transport", options->transport, "what they talk over")
      ->check(CLI::IsMember({"tcp", "unix"}))
      ->capture_default_str();
  app.add_flag("--plain", options->plain,
               "neither encrypt nor authenticate: for measuring");
  app.add_option("--journal", options->journal,
                 "a folder where servers keep what they know; one that is "
                 "killed is started again and goes on from there")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  app.add_option("COMMAND", options->command,
                 "what each process runs: mxc train …, behind --")
      ->required();
  app.positionals_at_end();
  return
      [options, &reporting] { reporting.exit_code = Launcher(*options).Run(); };
}

}  // namespace mxc::run
