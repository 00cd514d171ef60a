// SPDX-License-Identifier: Apache-2.0
#include "tools/dump.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "tools/output_file.h"
#include "tools/terminal.h"

namespace mxc {

void Dump::After(const PassOptions::Report& report) {
  ++number_;
  if (options_.dump_after != "all" && options_.dump_after != report.name) {
    return;
  }
  const std::string text =
      report.graph ? Print(*report.graph) : Print(*report.program);
  if (options_.dump_folder.empty()) {
    PrintLines(stdout, fmt::format("# after {}\n{}\n", report.name, text));
    return;
  }
  if (!status_.ok()) return;
  status_ = Write(report.name, report.graph ? "graph" : "program", text);
}

Status Dump::Write(const std::string& pass, const char* extension,
                   const std::string& text) const {
  std::error_code error;  // what is wrong shows in the writing
  std::filesystem::create_directories(options_.dump_folder, error);
  return WriteDump(fmt::format("{}/{:02}-{}.{}", options_.dump_folder, number_,
                               pass, extension),
                   text);
}

}  // namespace mxc
