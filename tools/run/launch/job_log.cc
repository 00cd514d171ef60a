// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/job_log.h"

#include <span>

#include "runtime/base/visible.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"

namespace mxc::run {
namespace {

constexpr size_t kMostSaid = 4096;  // lines that are remembered

}  // namespace

JobLog::JobLog(const std::string& path) {
  if (path.empty()) return;
  file_ = Take(runtime::LogFile::Continue(path));
}

void JobLog::Say(const std::string& name, const std::string& line) {
  const std::string text = "[" + name + "] " + runtime::Visible(line) + "\n";
  if (file_ && !file_->Append(std::as_bytes(std::span(text))).ok()) {
    file_.reset();
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
