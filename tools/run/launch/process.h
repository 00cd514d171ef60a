// SPDX-License-Identifier: Apache-2.0
// One process of a job: what it is told, and what it says.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/file.h"

namespace mxc::run {

class Process {
 public:
  using Environment = std::map<std::string, std::string>;

  Process(std::string role, uint32_t rank)
      : role_(std::move(role)), rank_(rank) {}

  const std::string& role() const { return role_; }
  uint32_t rank() const { return rank_; }
  std::string name() const { return role_ + " " + std::to_string(rank_); }

  Environment environment;
  std::vector<int> inherited;  // descriptors
  // Whether its errors and its output come through a pipe; otherwise they go
  // where the launcher's go.
  bool pipes_errors = false, pipes_output = false;

  // A signal that ends the launcher ends it, too. Throws a Failure.
  void Start(const std::vector<std::string>& command);
  pid_t id() const { return id_; }  // 0: it does not run
  void Kill(int signal) const;
  void Ended() { id_ = 0; }

  // Of the pipe; -1: there is none, or it has ended.
  int output() const { return output_.get(); }
  // Hands out the lines that have come; `all`: also one that has no end.
  void ReadLines(const std::function<void(const std::string&)>& take, bool all);

 private:
  [[noreturn]] void Become(const std::vector<std::string>& command, int output);

  const std::string role_;  // "worker"
  const uint32_t rank_;
  pid_t id_ = 0;
  runtime::Descriptor output_;
  std::string rest_;  // of a line
};

}  // namespace mxc::run
