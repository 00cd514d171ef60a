// SPDX-License-Identifier: Apache-2.0
// Makes a folder for one job that no crash leaves behind.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "runtime/base/file.h"

namespace mxc::run {

// A folder of the job alone, for keys and sockets, or for journals. It goes with
// the launcher, also with one that is killed: a process of its own waits for
// that.
class JobFolder {
 public:
  // Throws a Failure.
  explicit JobFolder(const std::filesystem::path& parent =
                         std::filesystem::temp_directory_path());
  ~JobFolder();
  JobFolder(const JobFolder&) = delete;
  std::string File(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  runtime::Descriptor alive_;  // closed when the launcher ends, however
  pid_t attendant_ = 0;
};

}  // namespace mxc::run
