// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/job_folder.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/base/destination.h"
#include "runtime/base/standard_streams.h"
#include "tools/run/failure.h"

namespace mxc::run {

namespace {

void RemoveAll(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Of a process that keeps nothing of its parent's but `alive`: waits until
// nobody holds the other end any more.
[[noreturn]] void Attend(int alive, const std::filesystem::path& path) {
  prctl(PR_SET_NAME, "mxc-folder");
  setsid();  // what is sent to the launcher's group is not for it
  runtime::LeaveStandardStreams();
  dup2(alive, 3);
  close_range(4, ~0U, 0);
  char byte = 0;
  ssize_t size = 0;
  while ((size = read(3, &byte, 1)) > 0 || (size < 0 && errno == EINTR)) {
  }
  RemoveAll(path);
  _exit(0);
}

}  // namespace

JobFolder::JobFolder(const std::filesystem::path& parent) {
  std::string name = (parent / "mxc-job-XXXXXX").string();
  const runtime::Status around = runtime::MakeFoldersAround(name);
  if (!around.ok()) throw Failure(around.message());
  if (mkdtemp(name.data()) == nullptr) {
    throw Failure("cannot make '" + name + "': " + std::strerror(errno));
  }
  path_ = name;
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const runtime::Descriptor alive(ends[0]);
  alive_ = runtime::Descriptor(ends[1]);
  attendant_ = fork();
  if (attendant_ == 0) Attend(alive.get(), path_);
}

JobFolder::~JobFolder() {
  RemoveAll(path_);
  alive_.Close();
  if (attendant_ > 0) waitpid(attendant_, nullptr, 0);
}

}  // namespace mxc::run
