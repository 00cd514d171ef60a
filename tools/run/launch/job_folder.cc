// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/job_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/run/failure.h"

namespace mxc::run {

JobFolder::JobFolder(const std::filesystem::path& parent) {
  std::string name = (parent / "mxc-job-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Failure("cannot make '" + name + "': " + std::strerror(errno));
  }
  path_ = name;
}

JobFolder::~JobFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace mxc::run
