// SPDX-License-Identifier: Apache-2.0
#include "tools/dump.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mxc {

void Dump::After(const PassOptions::Report& report) {
  ++number_;
  if (options_.dump_after != "all" && options_.dump_after != report.name) {
    return;
  }
  const std::string text =
      report.graph ? Print(*report.graph) : Print(*report.program);
  if (options_.dump_folder.empty()) {
    fmt::print("# after {}\n{}\n", report.name, text);
    return;
  }
  std::filesystem::create_directories(options_.dump_folder);
  const std::string path =
      fmt::format("{}/{:02}-{}.{}", options_.dump_folder, number_, report.name,
                  report.graph ? "graph" : "program");
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) fmt::print(stderr, "cannot write {}\n", path);
}

}  // namespace mxc
