// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/kvstore_job.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "runtime/kvstore/credentials.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/sockets.h"
#include "tools/run/failure.h"

namespace mxc {
namespace {

using run::Take;

class JobProcesses {
 public:
  explicit JobProcesses(KvstoreJob job) : job_(std::move(job)) {
    job_.settings.keys = kvstore::Digest(job_.keys);
    job_.settings.servers = job_.servers;
    secret_ = Take(kvstore::MakeSecret());
    transport_ = Take(kvstore::MakeSockets());
    for (uint32_t i = 0; i < job_.servers; ++i) {
      listeners_.push_back(Take(transport_->Listen("127.0.0.1:0")));
      addresses_.push_back(listeners_.back()->address());
    }
  }

  std::string Run() {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) return "no pipe";
    std::vector<pid_t> processes;
    for (uint32_t i = 0; i < job_.servers; ++i) {
      processes.push_back(Fork(pipe_ends[1], [&] { return Serve(i); }));
    }
    for (uint32_t rank = 0; rank < job_.settings.workers; ++rank) {
      processes.push_back(Fork(pipe_ends[1], [&] { return Work(rank); }));
    }
    close(pipe_ends[1]);
    listeners_.clear();
    // What goes wrong first is said first.
    char message[1024] = {};
    const ssize_t size = read(pipe_ends[0], message, sizeof message - 1);
    close(pipe_ends[0]);
    std::string wrong(message, size > 0 ? static_cast<size_t>(size) : 0);
    for (const pid_t process : processes) {
      if (!wrong.empty()) kill(process, SIGKILL);
      int status = 0;
      waitpid(process, &status, 0);
      if (status != 0 && wrong.empty()) wrong = "a process ended";
    }
    return wrong;
  }

 private:
  static pid_t Fork(int report, const std::function<std::string()>& body) {
    const pid_t child = fork();
    if (child != 0) return child;
    std::string wrong;
    try {
      wrong = body();
    } catch (const std::exception& failure) {
      wrong = failure.what();
    }
    const bool told =
        wrong.empty() || write(report, wrong.data(), wrong.size()) >= 0;
    _exit(wrong.empty() && told ? 0 : 1);
  }

  std::string Serve(uint32_t index) {
    const auto tls = Take(kvstore::Tls::Make(kvstore::Side::kServer, secret_));
    const auto transport = Take(kvstore::MakeSockets());
    const auto shelf = job_.make_shelf();
    kvstore::Server server(*transport, *listeners_[index], job_.keys, *shelf,
                           {job_.settings, {}, tls.get(), ""});
    return kvstore::Serve(server, *transport).message();
  }

  std::string Work(uint32_t rank) {
    kvstore::Credentials own{kvstore::WorkerIdentity(rank), {}};
    own.key = kvstore::DeriveKey(secret_.key, own.identity);
    const auto tls = Take(kvstore::Tls::Make(kvstore::Side::kClient, own));
    const auto transport = Take(kvstore::MakeSockets());
    kvstore::ClientOptions options;
    options.rank = rank;
    options.servers = addresses_;
    options.settings = job_.settings;
    options.tls = tls.get();
    kvstore::Worker worker(*transport, job_.keys, options);
    const std::string wrong = job_.work(rank, worker);
    if (!wrong.empty()) return "worker " + std::to_string(rank) + ": " + wrong;
    return worker.Finish().message();
  }

  KvstoreJob job_;
  kvstore::Credentials secret_;
  std::unique_ptr<kvstore::Transport> transport_;
  std::vector<std::unique_ptr<kvstore::Listener>> listeners_;
  std::vector<std::string> addresses_;
};

}  // namespace

std::string RunKvstoreJob(KvstoreJob job) {
  return JobProcesses(std::move(job)).Run();
}

}  // namespace mxc
