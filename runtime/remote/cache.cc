// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/cache.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "runtime/remote/location.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::StatusCode;
using runtime::StatusOr;

StatusOr<std::string> CacheFolder() {
  const auto variable = [](const char* name) -> std::string {
    const char* text = std::getenv(name);
    return text == nullptr ? "" : text;
  };
  std::string folder = variable("MXC_REMOTE_CACHE");
  if (!folder.empty()) return folder;
  folder = variable("XDG_CACHE_HOME");
  if (folder.empty() && !variable("HOME").empty()) {
    folder = variable("HOME") + "/.cache";
  }
  if (!folder.empty()) return folder + "/mxc/remote";
  return Fail(StatusCode::kNotFound,
              "there is no home for copies of URLs; MXC_REMOTE_CACHE names a "
              "folder");
}

// Folders whose names spell a text. A digest that is not cryptographic would let
// a server choose a version whose copy stands where another object's is looked for.
std::string FoldersOf(const std::string& text) {
  constexpr size_t kLongest = 200;  // of a name, which may have 255 bytes
  std::string folders, name;
  for (const char c : text) {
    name += PercentEncoded({&c, 1}, "-._~");
    if (name.size() < kLongest) continue;
    folders += name + "/";
    name.clear();
  }
  return folders + name;
}

// The end of a name tells readers a file's format: it stays.
std::string EndOf(const std::string& shown) {
  std::string end = std::filesystem::path(shown).filename().string();
  if (end.size() > 80) end = end.substr(end.size() - 80);
  return end;
}

}  // namespace

StatusOr<std::string> PathOfCopy(const std::string& shown,
                                 const ObjectFacts& facts) {
  MXC_RT_ASSIGN(const std::string folder, CacheFolder());
  // "=" is no part of a spelling: no object's file is another one's folder.
  return folder + "/" +
         FoldersOf(shown + " " + std::to_string(facts.bytes) + " " +
                   facts.version) +
         "=/" + EndOf(shown);
}

bool IsThere(const std::string& path, const ObjectFacts& facts) {
  struct stat status;
  return !facts.version.empty() && stat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode) &&
         static_cast<uint64_t>(status.st_size) == facts.bytes;
}

}  // namespace mxc::remote
