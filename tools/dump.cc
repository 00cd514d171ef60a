// SPDX-License-Identifier: Apache-2.0
#include "tools/dump.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "tools/output_file.h"
#include "tools/terminal.h"

namespace mxc {

Status Dump::operator()(const PassOptions::Report& report) {
  ++number_;
  if (pass_ != "all" && pass_ != report.name) return Done{};
  const std::string text =
      report.graph ? Print(*report.graph) : Print(*report.program);
  if (folder_.empty()) {
    PrintLines(stdout, fmt::format("# after {}\n{}\n", report.name, text));
    return Done{};
  }
  return WriteDump(fmt::format("{}/{:02}-{}.{}", folder_, number_, report.name,
                               report.graph ? "graph" : "program"),
                   text);
}

}  // namespace mxc
