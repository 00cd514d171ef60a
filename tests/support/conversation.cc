// SPDX-License-Identifier: Apache-2.0
#include "tests/support/conversation.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "ir/support/check.h"

namespace mxc::test {

Conversation::Conversation(const std::string& command) {
  int down[2], up[2];
  MXC_CHECK(pipe2(down, O_CLOEXEC) == 0 && pipe2(up, O_CLOEXEC) == 0);
  const std::string shell = "exec " + command;
  signal(SIGPIPE, SIG_IGN);  // who reads may have ended
  if (fork() == 0) {
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", shell.c_str(), nullptr);
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = fdopen(down[1], "w");
  from_ = fdopen(up[0], "r");
}

Conversation::~Conversation() {
  std::fclose(to_);
  std::fclose(from_);
}

std::string Conversation::Ask(const std::string& line) {
  const auto answer = Try(line);
  MXC_CHECK(answer.has_value(), "the other process ended at '{}'", line);
  return *answer;
}

std::optional<std::string> Conversation::Try(const std::string& line) {
  std::fprintf(to_, "%s\n", line.c_str());
  std::fflush(to_);
  char* answer = nullptr;
  size_t room = 0;
  const ssize_t length = getline(&answer, &room, from_);
  std::optional<std::string> text;
  if (length > 0) text.emplace(answer, static_cast<size_t>(length - 1));
  free(answer);
  return text;
}

}  // namespace mxc::test
