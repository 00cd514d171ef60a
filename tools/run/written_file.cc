// SPDX-License-Identifier: Apache-2.0
#include "tools/run/written_file.h"

#include <sstream>

#include "runtime/base/destination.h"

namespace mxc::run {

std::vector<std::string> FilesOfSource(const std::string& source) {
  std::istringstream names(source.substr(source.find(':') + 1));
  std::vector<std::string> files;
  for (std::string name; std::getline(names, name, ',');) files.push_back(name);
  return files;
}

runtime::Status RequireWritable(const std::string& path,
                                const std::vector<std::string>& inputs,
                                std::string_view own) {
  if (path.empty()) return {};
  MXC_RT_RETURN_IF_ERROR(runtime::RequireNotRead(path, inputs));
  MXC_RT_RETURN_IF_ERROR(runtime::RequireOwnKind(path, own));
  return runtime::RequireDestination(path);
}

}  // namespace mxc::run
