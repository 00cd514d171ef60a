// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/watched_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>

#include "runtime/base/file.h"

namespace mxc::data {
namespace {

using runtime::Descriptor;
using runtime::Fail;
using runtime::MappedFile;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

// Never freed, for the handler may look at any time; one that watches nothing
// (begin is 0) serves again.
struct Watch {
  std::atomic<uintptr_t> begin = 0, end = 0;
  std::atomic<bool> cut = false;
  Watch* next = nullptr;  // set before others see the watch

  // The handler knows nothing of these.
  Descriptor file;
  std::string path;
  int64_t size = 0;
  std::shared_ptr<runtime::ArrivingFile> arriving;
};

std::atomic<Watch*> watches = nullptr;
std::mutex mutex;  // of whoever changes watches, or reads paths
struct sigaction before;
uintptr_t page_bytes = 0;

// Puts zeros where the file's pages are gone. Marks the file first: who reads
// zeros finds the mark.
bool PutZeros(uintptr_t address) {
  for (Watch* watch = watches; watch != nullptr; watch = watch->next) {
    const uintptr_t begin = watch->begin, end = watch->end;
    if (begin == 0 || address < begin || address >= end) continue;
    watch->cut = true;
    const uintptr_t page = address / page_bytes * page_bytes;
    return mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  }
  return false;
}

void OnBusError(int, siginfo_t* info, void*) {
  const int error = errno;
  // The instruction runs again: with zeros, or into what was there before.
  if (!PutZeros(reinterpret_cast<uintptr_t>(info->si_addr))) {
    sigaction(SIGBUS, &before, nullptr);
  }
  errno = error;
}

void ListenForBusErrors() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGBUS, &action, &before);
  });
}

Watch* Begin(Descriptor file, const std::string& path, runtime::Bytes bytes,
             std::shared_ptr<runtime::ArrivingFile> arriving) {
  const std::lock_guard lock(mutex);
  Watch* watch = watches;
  while (watch != nullptr && watch->begin != 0) watch = watch->next;
  const bool found = watch != nullptr;
  if (!found) watch = new Watch;
  watch->file = std::move(file);
  watch->path = path;
  watch->arriving = std::move(arriving);
  watch->size = static_cast<int64_t>(bytes.size());
  watch->cut = false;
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  watch->end = begin + bytes.size();
  watch->begin = begin;
  if (!found) {
    watch->next = watches;
    watches = watch;
  }
  return watch;
}

void End(Watch* watch) {
  std::shared_ptr<runtime::ArrivingFile> arriving;  // ends without the lock
  const std::lock_guard lock(mutex);
  watch->begin = 0;
  watch->file = Descriptor();
  arriving.swap(watch->arriving);
}

}  // namespace

StatusOr<WatchedFile> WatchedFile::Open(const std::string& path) {
  auto file = runtime::OpenFile(path);
  if (!file.ok()) return file.status();
  return Map(std::move(*file), path, nullptr);
}

StatusOr<WatchedFile> WatchedFile::OpenInParts(const std::string& path) {
  MXC_RT_ASSIGN(const runtime::FilePlace place, runtime::PlaceOf(path));
  if (place.remote == nullptr) return Open(path);
  MXC_RT_ASSIGN(const runtime::ReadableFile file, place.remote->Stream(path));
  return Open(file, path);
}

StatusOr<WatchedFile> WatchedFile::Open(const runtime::ReadableFile& file,
                                        const std::string& name) {
  if (file.arriving == nullptr) return Open(file.path);
  Descriptor copy(fcntl(file.arriving->descriptor(), F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0) return runtime::SystemError("open", file.path);
  return Map(std::move(copy), name, file.arriving);
}

StatusOr<WatchedFile> WatchedFile::Map(
    Descriptor file, const std::string& name,
    std::shared_ptr<runtime::ArrivingFile> arriving) {
  auto mapped = MappedFile::Map(file, name);
  if (!mapped.ok()) return mapped.status();
  WatchedFile watched;
  watched.bytes_ = mapped->bytes();
  if (watched.bytes_.empty()) return watched;
  ListenForBusErrors();
  watched.arriving_ = Arriving(arriving, watched.bytes_);
  Watch* watch =
      Begin(std::move(file), name, watched.bytes_, std::move(arriving));
  watched.owner_ = std::shared_ptr<const void>(
      watched.bytes_.data(),
      [watch, mapping = mapped->owner()](const void*) { End(watch); });
  return watched;
}

Status CheckFiles() {
  const std::lock_guard lock(mutex);
  for (const Watch* watch = watches; watch != nullptr; watch = watch->next) {
    if (watch->begin == 0) continue;
    if (watch->arriving != nullptr) {
      MXC_RT_RETURN_IF_ERROR(watch->arriving->status());
    }
    struct stat now;
    const bool known = fstat(watch->file.get(), &now) == 0;
    if (!watch->cut && (!known || now.st_size >= watch->size)) continue;
    return Fail(StatusCode::kIo,
                "'%s' was cut while it was read: of its %lld bytes %lld are "
                "left; replace files by renaming",
                watch->path.c_str(), static_cast<long long>(watch->size),
                static_cast<long long>(known ? now.st_size : 0));
  }
  return {};
}

}  // namespace mxc::data
