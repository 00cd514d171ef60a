// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/server_beside.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "runtime/base/exit_code.h"
#include "runtime/base/visible.h"
#include "runtime/job/tell.h"
#include "runtime/kvstore/transport/sockets.h"

namespace mxc::job {
namespace {

// What ends workers, so that they save, is not for the server.
[[noreturn]] void Become(const Job& server, pid_t worker,
                         const ServerBeside::Serve& serve) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != worker) _exit(1);
  signal(SIGTERM, SIG_IGN);
  const Status served = serve(server);
  if (served.ok()) _exit(0);
  Tell("error: " + runtime::Visible(served.message()));
  _exit(1);
}

}  // namespace

StatusOr<std::unique_ptr<ServerBeside>> ServerBeside::Start(
    const Job& job, const Serve& serve) {
  MXC_RT_ASSIGN(const auto transport, kvstore::MakeSockets());
  const auto listener = transport->Listen(job.servers.front());
  if (!listener.ok()) {
    return Fail(listener.status().code(),
                "the job's server %s; MXC_PORT chooses another port",
                listener.status().message().c_str());
  }
  Job server = job;
  server.serves = true;
  server.listen = "fd:" + std::to_string((*listener)->descriptor());
  const pid_t worker = getpid();
  const pid_t id = fork();
  if (id == 0) Become(server, worker, serve);
  if (id > 0) return std::unique_ptr<ServerBeside>(new ServerBeside(id));
  return Fail(StatusCode::kIo, "cannot start the job's server: %s",
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

Status ServerBeside::Await() {
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = 0;
  const int code = runtime::ExitCodeOf(status);
  if (code == 0) return {};
  return Fail(StatusCode::kFailed, "the job's server ended with status %d",
              code);
}

}  // namespace mxc::job
