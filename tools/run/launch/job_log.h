// SPDX-License-Identifier: Apache-2.0
// What all ranks of a job say, in one place: each line behind the name of who
// says it, on stderr and in a file.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "runtime/base/log_file.h"

namespace mxc::run {

class JobLog {
 public:
  // A file that is there is gone on with; empty: there is none. Throws a
  // Failure.
  explicit JobLog(const std::string& path);

  // Worker 0 speaks for the job: its lines are on stderr as they are. Of what
  // several say alike, stderr has the first.
  void Say(const std::string& name, const std::string& line);

 private:
  std::optional<runtime::LogFile> file_;
  std::set<std::string> said_;
};

}  // namespace mxc::run
