// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/in_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

namespace mxc {
namespace {

// Of the processor, which other work does not shorten; and of the clock, for what
// waits for nothing.
constexpr rlim_t kProcessorSeconds = 300;
constexpr int kSeconds = 600;

// What the child writes until it is done; nullopt, and the child is killed,
// where it is silent for too long.
std::optional<std::string> ReadAll(int fd, pid_t child) {
  std::string text;
  char buffer[4096];
  pollfd readable = {fd, POLLIN, 0};
  while (true) {
    if (poll(&readable, 1, kSeconds * 1000) <= 0) {
      kill(child, SIGKILL);
      return std::nullopt;
    }
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

void WriteAll(int fd, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n <= 0) return;
    written += static_cast<size_t>(n);
  }
}

}  // namespace

Verdict InProcess(const std::function<std::string()>& check) {
  int fds[2];
  if (pipe(fds) != 0) return {true, "there is no pipe"};
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(fds[0]);
    const rlimit limit = {kProcessorSeconds, kProcessorSeconds};
    (void)setrlimit(RLIMIT_CPU, &limit);
    WriteAll(fds[1], check());
    _exit(0);
  }
  close(fds[1]);
  Verdict verdict;
  const std::optional<std::string> text = ReadAll(fds[0], child);
  close(fds[0]);
  int status = 0;
  waitpid(child, &status, 0);
  verdict.message = text.value_or("");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return verdict;
  verdict.died = true;
  verdict.message = !text ? fmt::format("not done after {} s", kSeconds)
                    : WIFSIGNALED(status)
                        ? fmt::format("died of signal {}", WTERMSIG(status))
                        : fmt::format("exit {}", WEXITSTATUS(status));
  return verdict;
}

}  // namespace mxc
