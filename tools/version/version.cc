// SPDX-License-Identifier: Apache-2.0
#include "tools/version/version.h"

#include <algorithm>
#include <fstream>

#include "runtime/base/cpu.h"
#include "runtime/base/visible.h"

// commit.cc, which the build writes.
extern const char* const kMxcCommit;

namespace mxc {
namespace {

using Json = nlohmann::ordered_json;

// As Linux names it; "unknown" where it does not.
std::string ProcessorModel() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != line.npos) return runtime::Visible(line.substr(colon + 2));
  }
  return "unknown";
}

std::string ProcessorLevel() {
  const std::string_view level = runtime::CpuLevel(runtime::CpuFeatures());
  return level.empty() ? "of no level that mxc knows" : std::string(level);
}

// Words that follow each other.
std::string Phrase(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string phrase;
  for (const Json& item : value) {
    phrase += (phrase.empty() ? "" : ", ") + Phrase(item);
  }
  return phrase;
}

}  // namespace

Json VersionReport() {
  return {{"version", MXC_VERSION},
          {"commit", kMxcCommit},
          {"cpu",
           {{"model", ProcessorModel()},
            {"level", ProcessorLevel()},
            {"features", runtime::CpuFeatureNames(runtime::CpuFeatures())}}}};
}

std::string VersionText(const std::string& program, const Json& report) {
  std::string text;
  for (const auto& [key, value] : report.items()) {
    constexpr size_t kColumn = 9;
    if (key == "version") {
      text += program + " " + Phrase(value) + "\n";
    } else {
      text += key + std::string(kColumn - std::min(kColumn, key.size()), ' ') +
              Phrase(value) + "\n";
    }
  }
  if (!text.empty()) text.pop_back();  // who prints it ends the line
  return text;
}

}  // namespace mxc
