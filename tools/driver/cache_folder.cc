// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/cache_folder.h"

#include <cstdlib>

namespace mxc {
namespace {

namespace fs = std::filesystem;

fs::path Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path CacheFolder() {
  // What is not absolute is to be ignored: XDG Base Directory Specification.
  fs::path folder = Variable("XDG_CACHE_HOME");
  if (!folder.is_absolute()) {
    folder = Variable("HOME");
    if (!folder.is_absolute()) return "";
    folder /= ".cache";
  }
  return folder / "mxc";
}

}  // namespace mxc
