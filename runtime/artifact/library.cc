// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/library.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace mxc::runtime {
namespace {

// The dynamic linker takes two libraries of one path for one library, even
// where the path has been given to another file. So a path begins with the
// file's checksum, in separators that mean nothing: "//" for a zero, "/." for a
// one.
std::string SpellChecksum(uint64_t checksum) {
  std::string text;
  for (int bit = 0; bit < 64; ++bit) {
    text += checksum >> bit & 1 ? "/." : "//";
  }
  return text;
}

bool IsNamed(const Descriptor& file, const std::string& path) {
  struct stat open, named;
  return fstat(file.get(), &open) == 0 && stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

std::string AbsolutePath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> absolute(
      realpath(path.c_str(), nullptr), &std::free);
  return absolute != nullptr ? absolute.get() : "";
}

// What dlerror says after the path that it begins with.
std::string Reason(const std::string& path) {
  const char* error = dlerror();
  if (error == nullptr) return "no reason given";
  std::string text = error;
  const std::string before = path + ": ";
  return text.starts_with(before) ? text.substr(before.size()) : text;
}

Status CannotLoad(const Descriptor& file, const std::string& reason) {
  struct statvfs system;
  if (fstatvfs(file.get(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0) {
    return Fail(StatusCode::kUnsupported,
                "its code cannot be loaded: its file system is mounted noexec; "
                "copy the file to another");
  }
  return Fail(StatusCode::kIo, "its code cannot be loaded: %s", reason.c_str());
}

// Where there is no /proc: the file's own name, looked at before and after.
StatusOr<void*> LoadByName(const Descriptor& file, const std::string& path,
                           const std::string& prefix) {
  const std::string absolute = AbsolutePath(path);
  void* library = nullptr;
  if (IsNamed(file, absolute)) {
    library = dlopen((prefix + absolute).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return CannotLoad(file, Reason(prefix + absolute));
    if (IsNamed(file, absolute)) return library;
    dlclose(library);
  }
  return Fail(StatusCode::kUnsupported,
              "its code cannot be loaded: /proc is not mounted, and '%s' is "
              "another file by now",
              path.c_str());
}

}  // namespace

StatusOr<void*> LoadLibrary(const Descriptor& file, const std::string& path,
                            uint64_t checksum) {
  const std::string prefix = SpellChecksum(checksum);
  // The open file, so that what was checked is what is loaded.
  const std::string open = Format("/proc/self/fd/%d", file.get());
  if (access(open.c_str(), F_OK) != 0) return LoadByName(file, path, prefix);
  void* library = dlopen((prefix + open).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return CannotLoad(file, Reason(prefix + open));
  return library;
}

}  // namespace mxc::runtime
