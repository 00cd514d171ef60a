// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/run/failure.h"
#include "tools/run/output.h"

namespace mxc::run {
namespace {

// What has no end of its own gets one.
constexpr size_t kLongestLine = size_t{64} << 10;

}  // namespace

void Process::Start(const std::vector<std::string>& command) {
  int ends[2] = {-1, -1};
  if ((pipes_errors || pipes_output) && pipe2(ends, O_CLOEXEC) != 0) {
    throw Failure("cannot start " + name() + ": " + std::strerror(errno));
  }
  id_ = fork();
  if (id_ == 0) Become(command, ends[1]);
  if (ends[1] >= 0) close(ends[1]);
  output_ = runtime::Descriptor(ends[0]);
  if (ends[0] >= 0) fcntl(ends[0], F_SETFL, O_NONBLOCK);
  if (id_ > 0) return;
  id_ = 0;
  throw Failure("cannot start " + name() + ": " + std::strerror(errno));
}

void Process::Become(const std::vector<std::string>& command, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  for (const int descriptor : inherited) fcntl(descriptor, F_SETFD, 0);
  if (pipes_output) dup2(output, STDOUT_FILENO);
  if (pipes_errors) dup2(output, STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(strdup(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  PrintErr("error: cannot start '%s': %s\n", words[0], std::strerror(errno));
  constexpr int kNotFound = 127;  // as shells say it
  _exit(kNotFound);
}

void Process::Kill(int signal) const {
  if (id_ > 0) kill(id_, signal);
}

void Process::ReadLines(const std::function<void(const std::string&)>& take,
                        bool all) {
  if (output_.get() < 0) return;
  char bytes[4096];
  ssize_t size = 0;
  while ((size = read(output_.get(), bytes, sizeof bytes)) > 0) {
    for (const char byte : std::string_view(bytes, static_cast<size_t>(size))) {
      if (byte != '\n') rest_ += byte;
      if (byte != '\n' && rest_.size() < kLongestLine) continue;
      take(rest_);
      rest_.clear();
    }
  }
  if (size == 0 || all) output_.Close();
  if (output_.get() >= 0 || rest_.empty()) return;
  take(rest_);
  rest_.clear();
}

}  // namespace mxc::run
