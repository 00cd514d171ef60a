// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace mxc::run {

// A folder of the job alone, which goes with the launcher: for keys and sockets,
// or for journals.
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
};

}  // namespace mxc::run
