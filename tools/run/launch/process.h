// SPDX-License-Identifier: Apache-2.0
// One process of a job: what it is told, and what it says.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/job/lines.h"
#include "runtime/job/server_status.h"

namespace mxc::run {

class Process {
 public:
  using Environment = std::map<std::string, std::string>;

  Process(std::string role, uint32_t rank)
      : role_(std::move(role)), rank_(rank) {}

  const std::string& role() const { return role_; }
  uint32_t rank() const { return rank_; }
  std::string name() const { return role_ + " " + std::to_string(rank_); }

  std::string machine;  // the name of another one; empty: this one
  Environment environment;
  std::vector<int> inherited;  // descriptors
  // Whether its errors and its output come through a pipe; otherwise they go
  // where the launcher's go.
  bool pipes_errors = false, pipes_output = false;
  // Whether it and what it starts get signals of their own, Ctrl-C among them.
  bool is_group = false;
  // Whether its standard input is a pipe, for Tell.
  bool hears = false;
  kvstore::ServerFacts status;  // what a server has told last
  bool finished = false;        // it has ended, and well
  // Of a pair's server: its birth, once it has said it; since when it has not said
  // that it knows of a term that it has no part in, 0 for none.
  uint64_t birth = 0;
  int64_t left_out = 0;

  // A signal that ends the launcher ends it, too. `order`: the process reaches
  // an attendant on another machine, to whom this goes (order.h). Throws a
  // Failure.
  void Start(const std::vector<std::string>& command,
             const std::string& order = "");
  pid_t id() const { return id_; }  // 0: it does not run
  uint32_t starts() const { return starts_; }
  bool attended() const { return attended_; }
  void Kill(int signal) const;
  // Says to an attendant that the launcher is there.
  void Beat() const {
    if (attended()) Tell("\n");
  }
  // A line, with its end, to the process or its attendant.
  bool Tell(const std::string& line) const;
  // Whatever runs on another machine: what reaches it ends.
  void Cut() const;
  void Ended();

  // Of the pipe; -1: there is none, or it has ended.
  int output() const { return output_.descriptor(); }
  // Hands out the lines that have come; `all`: also one that has no end.
  void ReadLines(const std::function<void(const std::string&)>& take,
                 bool all) {
    output_.Read(take, all);
  }

 private:
  [[noreturn]] void Become(const std::vector<std::string>& command, int input,
                           int output);

  const std::string role_;  // "worker"
  const uint32_t rank_;
  pid_t id_ = 0;
  uint32_t starts_ = 0;
  job::Lines output_;
  bool attended_ = false;
  runtime::Descriptor lifeline_;  // to the process, or an attendant
};

}  // namespace mxc::run
