// SPDX-License-Identifier: Apache-2.0
#include "tools/run/server_beside.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "runtime/base/visible.h"
#include "runtime/kvstore/transport/sockets.h"
#include "tools/run/failure.h"
#include "tools/run/launch/process.h"
#include "tools/run/output.h"

namespace mxc::run {
namespace {

// What ends workers, so that they save, is not for the server.
[[noreturn]] void Become(const Job& server, pid_t worker,
                         const std::function<void(const Job&)>& serve) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != worker) _exit(1);
  signal(SIGTERM, SIG_IGN);
  try {
    serve(server);
  } catch (const std::exception& failure) {
    PrintErr("error: %s\n", runtime::Visible(failure.what()).c_str());
    _exit(1);
  }
  _exit(0);
}

}  // namespace

ServerBeside::ServerBeside(const Job& job,
                           const std::function<void(const Job&)>& serve) {
  const auto transport = Take(kvstore::MakeSockets());
  auto listener = transport->Listen(job.servers.front());
  if (!listener.ok()) {
    throw Failure("the job's server " + listener.status().message() +
                  "; MXC_PORT chooses another port");
  }
  Job server = job;
  server.serves = true;
  server.listen = "fd:" + std::to_string((*listener)->descriptor());
  const pid_t worker = getpid();
  id_ = fork();
  if (id_ == 0) Become(server, worker, serve);
  if (id_ > 0) return;
  throw Failure(std::string("cannot start the job's server: ") +
                std::strerror(errno));
}

ServerBeside::~ServerBeside() {
  if (id_ <= 0) return;
  constexpr auto kMoment = std::chrono::milliseconds(10);
  for (int moments = 0; moments < 100; ++moments) {
    if (waitpid(id_, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(kMoment);
  }
  kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
}

void ServerBeside::Await() {
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = 0;
  const int code = CodeOf(status);
  if (code == 0) return;
  throw Failure("the job's server ended with status " + std::to_string(code));
}

}  // namespace mxc::run
