// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/watched_file.h"

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

Watch* Begin(Descriptor file, const std::string& path, runtime::Bytes bytes) {
  const std::lock_guard lock(mutex);
  Watch* watch = watches;
  while (watch != nullptr && watch->begin != 0) watch = watch->next;
  const bool found = watch != nullptr;
  if (!found) watch = new Watch;
  watch->file = std::move(file);
  watch->path = path;
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
  const std::lock_guard lock(mutex);
  watch->begin = 0;
  watch->file = Descriptor();
}

}  // namespace

StatusOr<WatchedFile> WatchedFile::Open(const std::string& path) {
  auto file = runtime::OpenFile(path);
  if (!file.ok()) return file.status();
  auto mapped = MappedFile::Map(*file, path);
  if (!mapped.ok()) return mapped.status();
  WatchedFile watched;
  watched.bytes_ = mapped->bytes();
  if (watched.bytes_.empty()) return watched;
  ListenForBusErrors();
  Watch* watch = Begin(std::move(*file), path, watched.bytes_);
  watched.owner_ = std::shared_ptr<const void>(
      watched.bytes_.data(),
      [watch, mapping = mapped->owner()](const void*) { End(watch); });
  return watched;
}

Status CheckFiles() {
  const std::lock_guard lock(mutex);
  for (const Watch* watch = watches; watch != nullptr; watch = watch->next) {
    if (watch->begin == 0) continue;
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
