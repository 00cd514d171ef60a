// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/remote.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/base/gathered_file.h"
#include "runtime/base/remote_files.h"
#include "runtime/remote/download.h"
#include "runtime/remote/location.h"
#include "runtime/remote/store.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::Status;
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

bool IsThere(const std::string& path, uint64_t bytes) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<uint64_t>(status.st_size) == bytes;
}

Status FetchTo(const Location& location, const ObjectFacts& facts,
               const std::string& path) {
  MXC_RT_ASSIGN(runtime::GatheredFile file,
                runtime::GatheredFile::Create(path));
  MXC_RT_RETURN_IF_ERROR(Download(location, facts, file.descriptor(), path));
  return file.Commit();
}

class Objects final : public runtime::RemoteFiles {
 public:
  StatusOr<std::string> PathOf(const std::string& name) override {
    if (!IsUrl(name)) return name;
    MXC_RT_ASSIGN(const Location location, Locate(name));
    return location.kind == Location::Kind::kFile ? location.url : "";
  }

  StatusOr<std::string> Fetch(const std::string& name) override {
    return LocalCopy(name);
  }

  Status Put(const std::string& name, int file) override {
    MXC_RT_ASSIGN(const Location location, Locate(name));
    struct stat status;
    if (fstat(file, &status) != 0) {
      return runtime::SystemError("read a temporary file for", location.shown);
    }
    return StoreOf(location.kind)
        .Put(location, {file, static_cast<uint64_t>(status.st_size)});
  }

  StatusOr<bool> Exists(const std::string& name) override {
    MXC_RT_ASSIGN(const Location location, Locate(name));
    const auto facts = AskAbout(location);
    if (facts.status().code() == StatusCode::kNotFound) return false;
    MXC_RT_RETURN_IF_ERROR(facts.status());
    return true;
  }

  StatusOr<std::vector<std::string>> List(const std::string& prefix) override {
    MXC_RT_ASSIGN(const Location location, Locate(prefix));
    return StoreOf(location.kind).List(location);
  }

  Status Remove(const std::string& name) override {
    MXC_RT_ASSIGN(const Location location, Locate(name));
    return StoreOf(location.kind).Remove(location);
  }
};

}  // namespace

StatusOr<std::string> LocalCopy(const std::string& name) {
  if (!IsUrl(name)) return name;
  MXC_RT_ASSIGN(const Location location, Locate(name));
  if (location.kind == Location::Kind::kFile) return location.url;
  // One of several that want the same object reads it.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  MXC_RT_ASSIGN(const ObjectFacts facts, AskAbout(location));
  MXC_RT_ASSIGN(std::string path, CacheFolder());
  // "=" is no part of a spelling: no object's file is another one's folder.
  path += "/" +
          FoldersOf(location.shown + " " + std::to_string(facts.bytes) + " " +
                    facts.version) +
          "=/" + EndOf(location.shown);
  const bool known = !facts.version.empty() && IsThere(path, facts.bytes);
  if (!known) MXC_RT_RETURN_IF_ERROR(FetchTo(location, facts, path));
  return path;
}

void AllowUrls() {
  static Objects objects;
  runtime::SetRemoteFiles(&objects);
}

}  // namespace mxc::remote
