// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/run/failure.h"
#include "tools/run/launch/order.h"
#include "tools/run/output.h"

namespace mxc::run {
namespace {

struct Pipe {
  runtime::Descriptor read, write;
};

Pipe MakePipe(const std::string& name) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw Failure("cannot start " + name + ": " + std::strerror(errno));
  }
  return {runtime::Descriptor(ends[0]), runtime::Descriptor(ends[1])};
}

}  // namespace

void Process::Start(const std::vector<std::string>& command,
                    const std::string& order) {
  Pipe output, input;
  if (pipes_errors || pipes_output) output = MakePipe(name());
  attended_ = !order.empty();
  if (attended_ || hears) input = MakePipe(name());
  ++starts_;
  id_ = fork();
  if (id_ == 0) Become(command, input.read.get(), output.write.get());
  if (id_ < 0) {
    id_ = 0;
    throw Failure("cannot start " + name() + ": " + std::strerror(errno));
  }
  if (is_group) setpgid(id_, id_);
  output_ = job::Lines(std::move(output.read));
  lifeline_ = std::move(input.write);
  if (lifeline_.get() >= 0) fcntl(lifeline_.get(), F_SETFL, O_NONBLOCK);
  if (attended_ && !Tell(order)) {
    Cut();
    throw Failure("cannot start " + name() + ": the command is too long");
  }
}

void Process::Become(const std::vector<std::string>& command, int input,
                     int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (is_group) setpgid(0, 0);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  for (const int descriptor : inherited) fcntl(descriptor, F_SETFD, 0);
  if (input >= 0) dup2(input, STDIN_FILENO);
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

// What is not read is lost: an attendant has lost the launcher then, and a
// process asks again.
bool Process::Tell(const std::string& text) const {
  if (lifeline_.get() < 0) return false;
  const ssize_t size = write(lifeline_.get(), text.data(), text.size());
  return size == static_cast<ssize_t>(text.size()) || errno == EPIPE;
}

void Process::Kill(int signal) const {
  if (id_ <= 0) return;
  if (attended()) {
    Tell(EncodeSignal(signal));
  } else {
    kill(is_group ? -id_ : id_, signal);
  }
}

void Process::Cut() const {
  if (id_ > 0) kill(is_group ? -id_ : id_, SIGKILL);
}

void Process::Ended() {
  id_ = 0;
  lifeline_.Close();
}

}  // namespace mxc::run
