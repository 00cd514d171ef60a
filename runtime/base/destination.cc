// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/destination.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "runtime/base/remote_files.h"

namespace mxc::runtime {
namespace {

constexpr int kMostLinks = 40;  // as the system follows

Status CannotWrite(const std::string& path, const char* why) {
  return Fail(StatusCode::kIo, "cannot write '%s': %s", path.c_str(), why);
}

Descriptor OpenFolder(const std::string& folder) {
  constexpr int kFlags = O_DIRECTORY | O_CLOEXEC;
  Descriptor readable(open(folder.c_str(), O_RDONLY | kFlags));
  if (readable.get() >= 0 || errno != EACCES) return readable;
  return Descriptor(open(folder.c_str(), O_PATH | kFlags));
}

// Links there lead to what is open, whatever its name is now.
bool IsProc(const Descriptor& folder) {
  struct statfs system;
  return fstatfs(folder.get(), &system) == 0 &&
         system.f_type == PROC_SUPER_MAGIC;
}

// What /proc/sys/fs/protected_symlinks asks of those who follow a link.
bool MayFollow(const Descriptor& folder, const struct stat& link) {
  struct stat around;
  if (fstat(folder.get(), &around) != 0) return false;
  const bool shared =
      (around.st_mode & S_ISVTX) != 0 && (around.st_mode & S_IWOTH) != 0;
  return !shared || link.st_uid == geteuid() || link.st_uid == around.st_uid;
}

// The file that the descriptor of this process named `name` has open, at its
// own position: what is written goes on where others wrote.
Descriptor DuplicateNamed(const Descriptor& folder, const std::string& name) {
  char* end = nullptr;
  const long number = std::strtol(name.c_str(), &end, 10);
  struct stat own, named;
  if (name.empty() || *end != 0 || number < 0 || number > INT_MAX ||
      fstat(static_cast<int>(number), &own) != 0 ||
      fstatat(folder.get(), name.c_str(), &named, 0) != 0 ||
      own.st_dev != named.st_dev || own.st_ino != named.st_ino) {
    return {};
  }
  return Descriptor(fcntl(static_cast<int>(number), F_DUPFD_CLOEXEC, 0));
}

// A name and what it stands for; a link is not followed.
struct NamedPlace {
  std::string folder_path;  // empty or with a slash at its end
  Destination to;
  bool exists = false;
  struct stat status{};
};

StatusOr<NamedPlace> LookUp(const std::string& at, const std::string& path) {
  NamedPlace place;
  const size_t slash = at.rfind('/');
  if (slash != at.npos) place.folder_path = at.substr(0, slash + 1);
  place.to.name = slash == at.npos ? at : at.substr(slash + 1);
  if (place.to.name.empty() && !at.empty()) {
    return CannotWrite(path, "it names a folder");
  }
  place.to.folder =
      OpenFolder(place.folder_path.empty() ? "." : place.folder_path);
  if (place.to.folder.get() < 0) return SystemError("create", path);
  place.exists = fstatat(place.to.folder.get(), place.to.name.c_str(),
                         &place.status, AT_SYMLINK_NOFOLLOW) == 0;
  if (!place.exists && (errno != ENOENT || place.to.name.empty())) {
    return SystemError("create", path);
  }
  return place;
}

StatusOr<std::string> FollowLink(const NamedPlace& place,
                                 const std::string& path) {
  if (!MayFollow(place.to.folder, place.status)) {
    return CannotWrite(path, "it is a link of another user");
  }
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlinkat(place.to.folder.get(), place.to.name.c_str(),
                                  target.data(), target.size());
  if (size < 0) return SystemError("write", path);
  const std::string next(target.data(), static_cast<size_t>(size));
  return next.starts_with('/') ? next : place.folder_path + next;
}

StatusOr<Destination> OpenStream(const NamedPlace& place,
                                 const std::string& path) {
  Destination stream;
  // Waits for the reader of a pipe.
  stream.stream =
      Descriptor(openat(place.to.folder.get(), place.to.name.c_str(),
                        O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
  if (stream.stream.get() < 0) return SystemError("write", path);
  return stream;
}

StatusOr<Destination> AcceptKind(NamedPlace place, const std::string& path) {
  const mode_t mode = place.status.st_mode;
  if (S_ISDIR(mode)) return CannotWrite(path, "it is a folder");
  if (S_ISSOCK(mode)) return CannotWrite(path, "it is a socket");
  if (S_ISBLK(mode)) return CannotWrite(path, "it is a block device");
  if (S_ISFIFO(mode) || S_ISCHR(mode)) return OpenStream(place, path);
  if (faccessat(place.to.folder.get(), place.to.name.c_str(), W_OK,
                AT_EACCESS) != 0) {
    return SystemError("write", path);
  }
  place.to.present = place.status;
  return std::move(place.to);
}

}  // namespace

StatusOr<Destination> FindDestination(const std::string& path) {
  std::string at = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    StatusOr<NamedPlace> place = LookUp(at, path);
    if (!place.ok()) return place.status();
    if (!place->exists) return std::move(place->to);
    if (!S_ISLNK(place->status.st_mode)) {
      return AcceptKind(std::move(*place), path);
    }
    if (IsProc(place->to.folder)) {
      Destination own;
      own.stream = DuplicateNamed(place->to.folder, place->to.name);
      if (own.is_stream()) return own;
      return CannotWrite(path, "it is no file of this process");
    }
    StatusOr<std::string> next = FollowLink(*place, path);
    if (!next.ok()) return next.status();
    at = std::move(*next);
  }
  errno = ELOOP;
  return SystemError("write", path);
}

Status MakeFoldersAround(const std::string& path) {
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return {};
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  errno = error.value();
  return SystemError("create", path);
}

Status RequireDestination(const std::string& name) {
  MXC_RT_ASSIGN(const FilePlace place, PlaceOf(name));
  if (place.remote != nullptr) return {};
  const std::string& path = place.path;
  struct stat found;
  if (stat(path.c_str(), &found) == 0 &&
      (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode))) {
    return {};
  }
  const std::string around = std::filesystem::path(path).parent_path();
  if (stat(around.c_str(), &found) != 0 && errno == ENOENT && !around.empty()) {
    return RequireFolder(around);
  }
  const StatusOr<Destination> to = FindDestination(path);
  if (!to.ok()) return to.status();
  if (to->is_stream() ||
      faccessat(to->folder.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) {
    return {};
  }
  return SystemError("create", path);
}

Status RequireFolder(const std::string& name) {
  // A server has no folders but those that names of objects tell of.
  MXC_RT_ASSIGN(const FilePlace place, PlaceOf(name + "/x"));
  if (place.remote != nullptr) return {};
  const std::string path = place.path.substr(0, place.path.size() - 2);
  std::filesystem::path nearest = path;
  struct stat found;
  while (nearest.has_relative_path() && stat(nearest.c_str(), &found) != 0) {
    if (errno != ENOENT) return SystemError("write to", path);
    nearest = nearest.parent_path();
  }
  if (nearest.empty()) nearest = ".";
  if (stat(nearest.c_str(), &found) == 0 && !S_ISDIR(found.st_mode)) {
    errno = ENOTDIR;
  } else if (faccessat(AT_FDCWD, nearest.c_str(), W_OK | X_OK, AT_EACCESS) ==
             0) {
    return {};
  }
  return SystemError("write to", path);
}

Status RequireNotRead(const std::string& path,
                      const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (path.empty() || input.empty()) continue;
    if (!std::filesystem::equivalent(path, input, error) || error) continue;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    return Fail(StatusCode::kInvalidArgument,
                "'%s' is read by this command, and would be written over",
                path.c_str());
  }
  return {};
}

Status RequireOwnKind(const std::string& path, std::string_view own) {
  constexpr std::array<std::string_view, 14> kKinds = {
      ".json", ".params",      ".states", ".mxc", ".npy", ".npz",  ".mxa",
      ".rec",  ".safetensors", ".csv",    ".png", ".jpg", ".jpeg", ".txt"};
  std::error_code error;
  const std::string ending = std::filesystem::path(path).extension();
  if (ending == own || std::ranges::count(kKinds, ending) == 0 ||
      !std::filesystem::is_regular_file(path, error)) {
    return {};
  }
  return Fail(StatusCode::kInvalidArgument,
              "'%s' is there, and by its name something else: it would be "
              "written over; expected a name that ends with %s",
              path.c_str(), std::string(own).c_str());
}

Status RequireWritable(const std::string& path,
                       const std::vector<std::string>& inputs,
                       std::string_view own) {
  if (path.empty()) return {};
  MXC_RT_RETURN_IF_ERROR(RequireNotRead(path, inputs));
  MXC_RT_RETURN_IF_ERROR(RequireOwnKind(path, own));
  return RequireDestination(path);
}

}  // namespace mxc::runtime
