// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/tell.h"

#include <cstdio>

#include "runtime/base/visible.h"

namespace mxc::job {

void Tell(const std::string& line) {
  const std::string text = runtime::VisibleLines(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace mxc::job
