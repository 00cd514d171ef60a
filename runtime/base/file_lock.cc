// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/destination.h"
#include "runtime/base/remote_files.h"

namespace mxc::runtime {
namespace {

// "process 4711 of host a"; empty: nobody says.
std::string HolderOf(int file) {
  char text[256];
  const ssize_t size = pread(file, text, sizeof text, 0);
  if (size <= 0) return "";
  const std::string holder(text, static_cast<size_t>(size));
  return holder.substr(0, holder.find('\n'));
}

void NoteHolder(int file) {
  char host[128] = "";
  gethostname(host, sizeof host - 1);
  const std::string text =
      "process " + std::to_string(getpid()) + " of machine " + host + "\n";
  if (ftruncate(file, 0) == 0) {
    (void)!pwrite(file, text.data(), text.size(), 0);
  }
}

// Whoever held the file before may have removed it meanwhile.
bool IsStillThere(int file, const std::string& path) {
  struct stat held, named;
  return fstat(file, &held) == 0 && stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept
    : path_(std::move(other.path_)), file_(std::move(other.file_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

FileLock::~FileLock() {
  if (holds()) unlink(path_.c_str());
}

StatusOr<FileLock> FileLock::Take(std::string path) {
  MXC_RT_ASSIGN(FilePlace place, PlaceOf(path));
  if (place.remote != nullptr) return FileLock();
  path = std::move(place.path);
  // Whoever was killed just now still holds it.
  constexpr int64_t kPatience = 3'000'000'000;
  const int64_t begin = Nanoseconds();
  MXC_RT_RETURN_IF_ERROR(MakeFoldersAround(path));
  while (true) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.get() < 0) {
      return Fail(StatusCode::kIo, "cannot lock '%s': %s", path.c_str(),
                  std::strerror(errno));
    }
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return FileLock();
      if (Nanoseconds() - begin < kPatience) {
        usleep(10'000);
        continue;
      }
      const std::string holder = HolderOf(file.get());
      return Fail(StatusCode::kBusy, "'%s' is held by %s", path.c_str(),
                  holder.empty() ? "another process" : holder.c_str());
    }
    if (!IsStillThere(file.get(), path)) continue;
    NoteHolder(file.get());
    FileLock lock;
    lock.path_ = std::move(path);
    lock.file_ = std::move(file);
    return lock;
  }
}

}  // namespace mxc::runtime
