// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/visible.h"
#include "tools/run/output.h"
#include "tools/run/subcommand.h"

namespace mxc::run {

void Warn(Reporting& reporting, const std::string& sentence) {
  PrintErr("warning: %s\n", runtime::Visible(sentence).c_str());
  reporting.warnings.push_back(sentence);
}

}  // namespace mxc::run
