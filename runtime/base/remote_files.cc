// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/remote_files.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>

namespace mxc::runtime {
namespace {

namespace fs = std::filesystem;

std::atomic<RemoteFiles*> remote_files = nullptr;

Status Failure(const char* what, const std::string& path,
               const std::error_code& error) {
  return Fail(StatusCode::kIo, "cannot %s '%s': %s", what, path.c_str(),
              error.message().c_str());
}

StatusOr<std::vector<std::string>> FilesAtPath(const fs::path& prefix) {
  const fs::path folder = prefix.parent_path();
  const std::string beginning = prefix.filename().string();
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator it(folder.empty() ? "." : folder, error);
  for (const fs::directory_iterator end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.starts_with(beginning)) files.push_back(std::move(name));
  }
  if (!error || error == std::errc::no_such_file_or_directory ||
      error == std::errc::not_a_directory) {
    return files;
  }
  return Failure("list", folder.empty() ? "." : folder.string(), error);
}

}  // namespace

void SetRemoteFiles(RemoteFiles* files) { remote_files = files; }

StatusOr<FilePlace> PlaceOf(const std::string& name) {
  RemoteFiles* const files = remote_files;
  if (files == nullptr || name.find("://") == name.npos) {
    return FilePlace{nullptr, name};
  }
  MXC_RT_ASSIGN(std::string path, files->PathOf(name));
  if (path.empty()) return FilePlace{files, {}};
  return FilePlace{nullptr, std::move(path)};
}

StatusOr<bool> FileExists(const std::string& name) {
  MXC_RT_ASSIGN(const FilePlace place, PlaceOf(name));
  if (place.remote != nullptr) return place.remote->Exists(name);
  std::error_code error;
  const bool exists = fs::exists(place.path, error);
  if (error) return Failure("look for", place.path, error);
  return exists;
}

StatusOr<std::vector<std::string>> FilesBeginningWith(
    const std::string& prefix) {
  MXC_RT_ASSIGN(const FilePlace place, PlaceOf(prefix));
  auto files = place.remote != nullptr ? place.remote->List(prefix)
                                       : FilesAtPath(place.path);
  if (files.ok()) std::ranges::sort(*files);
  return files;
}

Status RemoveFile(const std::string& name) {
  MXC_RT_ASSIGN(const FilePlace place, PlaceOf(name));
  if (place.remote != nullptr) return place.remote->Remove(name);
  std::error_code error;
  fs::remove(place.path, error);
  return error ? Failure("remove", place.path, error) : Status();
}

}  // namespace mxc::runtime
