// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/job_log.h"

#include <fcntl.h>
#include <unistd.h>

#include "runtime/base/visible.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"

namespace mxc::run {
namespace {

constexpr size_t kMostSaid = 4096;  // lines that are remembered

}  // namespace

JobLog::JobLog(const std::string& path) {
  if (path.empty()) return;
  constexpr int kMode = 0644;
  file_ = runtime::Descriptor(
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode));
  if (file_.get() < 0) Require(runtime::SystemError("write", path));
}

void JobLog::Say(const std::string& name, const std::string& line) {
  const std::string text = "[" + name + "] " + runtime::Visible(line) + "\n";
  if (file_.get() >= 0 && write(file_.get(), text.data(), text.size()) < 0) {
    file_.Close();
    PrintErr("warning: the log cannot be written any more\n");
  }
  const bool first = said_.size() >= kMostSaid || said_.insert(line).second;
  if (name == "worker 0") {
    PrintErr("%s\n", line.c_str());
  } else if (first) {
    PrintErr("%s", text.c_str());
  }
}

}  // namespace mxc::run
