// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/reloader.h"

#include <exception>
#include <utility>

#include "runtime/base/visible.h"
#include "tools/run/output.h"

namespace mxc::serve {

void Reloader::Begin(Told told) {
  const std::lock_guard lock(mutex_);
  if (!runs_) {
    // The one before, if any, has nothing left to do but end.
    thread_ = std::jthread([this] { Run(); });
    runs_ = true;
  }
  asked_.push_back(std::move(told));
}

void Reloader::Run() {
  while (true) {
    std::vector<Told> asked;
    {
      const std::lock_guard lock(mutex_);
      if (asked_.empty()) {
        runs_ = false;
        return;
      }
      asked.swap(asked_);
    }
    const std::string error = Reload();
    for (const Told& told : asked) {
      if (told) told(error);
    }
  }
}

std::string Reloader::Reload() {
  try {
    models_.Reload();
    run::PrintErr("the networks are loaded anew\n");
    return "";
  } catch (const std::exception& failure) {
    const std::string error = runtime::Visible(failure.what());
    run::PrintErr("error: %s; the networks stay as they are\n", error.c_str());
    return error;
  }
}

}  // namespace mxc::serve
