// SPDX-License-Identifier: Apache-2.0
#include "codegen/cache/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"

namespace mxc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".mxo";

// Whose object it is, and whether it is whole.
std::string Header(const std::string& key, std::string_view object) {
  const runtime::Bytes bytes =
      std::as_bytes(std::span(object.data(), object.size()));
  return fmt::format("mxc object 1\n{}\n{:016x}\n", key,
                     runtime::Checksum(bytes));
}

struct Entry {
  fs::path path;
  int64_t bytes = 0;
  fs::file_time_type used;
};

// Entries, and what writers that were killed left; nothing of other programs.
bool IsOurs(const fs::directory_entry& file) {
  const std::string name = file.path().filename().string();
  const size_t digits = name.find_first_not_of("0123456789abcdef");
  return digits != name.npos && digits > 0 &&
         std::string_view(name).substr(digits).starts_with(kExtension);
}

// Others may delete entries meanwhile.
std::vector<Entry> EntriesOf(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (!IsOurs(*file)) continue;
    std::error_code gone;
    Entry entry;
    entry.path = file->path();
    entry.bytes = static_cast<int64_t>(file->file_size(gone));
    if (gone) continue;
    entry.used = file->last_write_time(gone);
    if (!gone) entries.push_back(std::move(entry));
  }
  return entries;
}

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;

bool IsOfOthers(const struct stat& status) {
  return status.st_uid != geteuid() && status.st_uid != 0;
}

// What is found is code that will run: whoever may write it must be trusted. A
// folder that is not there yet will be made for this user alone.
bool OthersMayWriteTo(const std::string& folder) {
  struct stat status;
  return stat(folder.c_str(), &status) == 0 &&
         (IsOfOthers(status) || (status.st_mode & kOthersMayWrite) != 0);
}

bool OthersMayHaveWritten(const std::string& folder, const std::string& file) {
  struct stat around, status;
  if (stat(folder.c_str(), &around) != 0 || stat(file.c_str(), &status) != 0) {
    return true;
  }
  const bool within_reach = (around.st_mode & (S_IXGRP | S_IXOTH)) != 0;
  return IsOfOthers(status) ||
         (within_reach && (status.st_mode & kOthersMayWrite) != 0);
}

void MakeFolder(fs::path folder) {
  std::error_code ignored;  // what is wrong shows in the writing
  if (!folder.has_filename()) folder = folder.parent_path();  // "objects/"
  fs::create_directories(folder.parent_path(), ignored);
  mkdir(folder.c_str(), S_IRWXU);
}

}  // namespace

std::optional<std::string_view> ObjectIn(std::string_view file,
                                         const std::string& key) {
  const size_t header = Header(key, "").size();
  if (file.size() < header) return std::nullopt;
  const std::string_view object = file.substr(header);
  if (file.substr(0, header) != Header(key, object)) return std::nullopt;
  return object;
}

ObjectCache::ObjectCache(std::string folder, int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

std::string ObjectCache::PathOf(const std::string& key) const {
  return (fs::path(folder_) / (key + std::string(kExtension))).string();
}

std::optional<std::string> ObjectCache::Find(const std::string& key) const {
  const std::string path = PathOf(key);
  if (OthersMayWriteTo(folder_) || OthersMayHaveWritten(folder_, path)) {
    return std::nullopt;
  }
  const auto file = runtime::MappedFile::Open(path);
  if (!file.ok()) return std::nullopt;
  const runtime::Bytes bytes = file->bytes();
  const auto object = ObjectIn(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, key);
  if (!object) return std::nullopt;
  // Its time says when it was last of use. It may be somebody else's.
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return std::string(*object);
}

void ObjectCache::Keep(const std::string& key, const std::string& object) {
  MakeFolder(folder_);
  if (OthersMayWriteTo(folder_)) {
    return Report(fmt::format("others may write to '{}'", folder_));
  }
  runtime::FileWriter out(PathOf(key));
  out.Append(Header(key, object));
  out.Append(object);
  const auto status = out.Commit(runtime::FileWriter::Sync::kNo);
  kept_bytes_ += static_cast<int64_t>(object.size());
  if (!status.ok()) Report(status.message());
}

void ObjectCache::Report(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) problem_ = problem;
}

std::string ObjectCache::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void ObjectCache::Trim() {
  const int64_t kept = kept_bytes_;
  if (kept == 0 || (was_trimmed_ && kept < most_bytes_ / 16)) return;
  was_trimmed_ = true;
  kept_bytes_ = 0;
  std::vector<Entry> entries = EntriesOf(folder_);
  int64_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  if (bytes <= most_bytes_) return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes_) break;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    bytes -= entry.bytes;
  }
}

}  // namespace mxc
