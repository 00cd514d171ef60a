// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/remote.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/base/remote_files.h"
#include "runtime/remote/arrival.h"
#include "runtime/remote/cache.h"
#include "runtime/remote/location.h"
#include "runtime/remote/object.h"
#include "runtime/remote/store.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::ListedFile;
using runtime::ReadableFile;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

// Of one object, and of what stands in a file beside others.
constexpr uint64_t kPieceBytes = 128 << 10, kSmallPieceBytes = 4 << 10;

struct Opened {
  std::string path;                  // of the copy
  std::shared_ptr<Arrival> arrival;  // null: it is there
};

// Several that want the same read it once.
StatusOr<Opened> OpenCopy(const Location& location,
                          std::vector<PlacedObject> objects,
                          const std::string& shown, const ObjectFacts& facts,
                          uint64_t piece_bytes) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Arrival>> arrivals;
  MXC_RT_ASSIGN(const std::string path, PathOfCopy(shown, facts));
  const std::lock_guard lock(mutex);
  std::erase_if(arrivals, [](const auto& at) { return at.second.expired(); });
  const auto known = arrivals.find(path);
  if (known != arrivals.end() && !facts.version.empty()) {
    if (auto arrival = known->second.lock();
        arrival != nullptr && arrival->status().ok()) {
      return Opened{path, std::move(arrival)};
    }
  }
  if (IsThere(path, facts)) return Opened{path, nullptr};
  MXC_RT_RETURN_IF_ERROR(MakeRoom(shown, facts.bytes));
  MXC_RT_ASSIGN(auto arrival, Arrival::Begin(location, std::move(objects),
                                             piece_bytes, path));
  arrivals[path] = arrival;
  return Opened{path, std::move(arrival)};
}

StatusOr<Opened> OpenObject(const std::string& name) {
  MXC_RT_ASSIGN(const Location location, Locate(name));
  if (location.kind == Location::Kind::kFile) {
    return Opened{location.url, nullptr};
  }
  MXC_RT_ASSIGN(const ObjectFacts facts, AskAbout(location));
  return OpenCopy(location, {{"", facts, 0}}, location.shown, facts,
                  kPieceBytes);
}

// Places the files one behind the other. Their version is what all of them are.
StatusOr<ObjectFacts> Place(const Location& location,
                            const std::vector<ListedFile>& files,
                            std::vector<PlacedObject>& objects) {
  ObjectFacts all;
  std::string text;
  uint64_t begin = 0;
  for (const ListedFile& file : files) {
    objects.push_back({file.name, {file.bytes, file.version}, begin});
    text += file.name + std::string(1, '\0') + std::to_string(file.bytes) +
            " " + file.version + "\n";
    if (file.bytes == 0) continue;
    all.bytes = begin + file.bytes;
    begin = (all.bytes + kSmallPieceBytes - 1) / kSmallPieceBytes *
            kSmallPieceBytes;
    if (all.bytes > kMostObject) {
      return Fail(StatusCode::kUnsupported,
                  "'%s': the server lists more than %llu bytes",
                  location.shown.c_str(),
                  static_cast<unsigned long long>(kMostObject));
    }
  }
  const bool known = std::ranges::all_of(
      files, [](const ListedFile& file) { return !file.version.empty(); });
  if (known) {
    all.version = std::to_string(
        runtime::Checksum(std::as_bytes(std::span<const char>(text))));
  }
  return all;
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

  StatusOr<ReadableFile> Stream(const std::string& name) override {
    MXC_RT_ASSIGN(Opened opened, OpenObject(name));
    return ReadableFile{std::move(opened.path), std::move(opened.arrival)};
  }

  StatusOr<std::vector<ListedFile>> ListBelow(
      const std::string& folder) override {
    MXC_RT_ASSIGN(const Location location, LocateInFolder(folder));
    MXC_RT_ASSIGN(auto files, StoreOf(location.kind).ListBelow(location));
    std::ranges::sort(files, {}, &ListedFile::name);
    return files;
  }

  StatusOr<ReadableFile> StreamTogether(
      const std::string& folder, const std::vector<ListedFile>& files,
      std::vector<uint64_t>& begins) override {
    MXC_RT_ASSIGN(const Location location, LocateInFolder(folder));
    std::vector<PlacedObject> objects;
    MXC_RT_ASSIGN(const ObjectFacts all, Place(location, files, objects));
    begins.clear();
    for (const PlacedObject& object : objects) begins.push_back(object.begin);
    MXC_RT_ASSIGN(Opened opened, OpenCopy(location, std::move(objects),
                                          location.Below("files").shown, all,
                                          kSmallPieceBytes));
    return ReadableFile{std::move(opened.path), std::move(opened.arrival)};
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
  MXC_RT_ASSIGN(const Opened opened, OpenObject(name));
  if (opened.arrival != nullptr) {
    MXC_RT_RETURN_IF_ERROR(opened.arrival->AwaitCopy());
  }
  return opened.path;
}

void AllowUrls() {
  static Objects objects;
  runtime::SetRemoteFiles(&objects);
}

}  // namespace mxc::remote
