// SPDX-License-Identifier: Apache-2.0
// A process that answers each line by one line.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace mxc::test {

class Conversation {
 public:
  // A command of the shell, which ends when its input does.
  explicit Conversation(const std::string& command);
  ~Conversation();
  Conversation(const Conversation&) = delete;

  // Aborts where the process has ended.
  std::string Ask(const std::string& line);
  // Nothing where it has.
  std::optional<std::string> Try(const std::string& line);

 private:
  std::FILE *to_ = nullptr, *from_ = nullptr;
};

}  // namespace mxc::test
