// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "runtime/base/visible.h"
#include "runtime/remote/location.h"

namespace mxc::remote {
namespace {

namespace fs = std::filesystem;

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
  std::string end = fs::path(shown).filename().string();
  if (end.size() > 80) end = end.substr(end.size() - 80);
  return end;
}

struct Copy {
  std::string path;
  fs::file_time_type used;
  uint64_t bytes = 0;
};

// What cannot be looked at is left alone.
std::vector<Copy> Copies(const std::string& folder) {
  std::vector<Copy> copies;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end;
       !error && at != end; at.increment(error)) {
    std::error_code unknown;
    Copy copy{at->path().string(), at->last_write_time(unknown), 0};
    if (at->is_symlink(unknown) || !at->is_regular_file(unknown)) continue;
    copy.bytes = at->file_size(unknown);
    if (!unknown) copies.push_back(std::move(copy));
  }
  return copies;
}

StatusOr<std::optional<uint64_t>> Bound() {
  const char* const text = std::getenv("MXC_REMOTE_CACHE_BYTES");
  if (text == nullptr || *text == '\0') return std::optional<uint64_t>();
  const std::string_view word = text;
  uint64_t bytes = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), bytes);
  if (error == std::errc() && end == word.data() + word.size()) {
    return std::optional(bytes);
  }
  return Fail(StatusCode::kInvalidArgument,
              "MXC_REMOTE_CACHE_BYTES is '%s', expected a number of bytes",
              runtime::Visible(word).c_str());
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
  const bool there = !facts.version.empty() &&
                     stat(path.c_str(), &status) == 0 &&
                     S_ISREG(status.st_mode) &&
                     static_cast<uint64_t>(status.st_size) == facts.bytes;
  // Where that is not allowed, it only seems to be older.
  if (there) (void)utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return there;
}

Status MakeRoom(const std::string& shown, uint64_t bytes) {
  MXC_RT_ASSIGN(const std::optional<uint64_t> bound, Bound());
  if (!bound) return {};
  if (bytes > *bound) {
    return Fail(StatusCode::kIo,
                "'%s' has %llu bytes; MXC_REMOTE_CACHE_BYTES allows %llu",
                shown.c_str(), static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(*bound));
  }
  MXC_RT_ASSIGN(const std::string folder, CacheFolder());
  std::vector<Copy> copies = Copies(folder);
  std::ranges::sort(copies, {}, &Copy::used);
  uint64_t sum = bytes;
  for (const Copy& copy : copies) sum += copy.bytes;
  for (const Copy& copy : copies) {
    if (sum <= *bound) break;
    // Whoever reads it has it open.
    if (unlink(copy.path.c_str()) == 0) sum -= copy.bytes;
  }
  return {};
}

}  // namespace mxc::remote
