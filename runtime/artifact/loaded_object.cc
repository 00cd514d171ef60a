// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/loaded_object.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/abi/abi.h"

namespace mxc::runtime {
namespace {

int Rights(const Elf64_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

Status CannotLoad() {
  return Fail(StatusCode::kIo, "its code cannot be loaded: %s",
              std::strerror(errno));
}

Status CannotMap(const Descriptor& file) {
  const int error = errno;
  struct statvfs system;
  if (fstatvfs(file.get(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0) {
    return Fail(StatusCode::kUnsupported,
                "its code cannot be loaded: its file system is mounted noexec; "
                "copy the file to another");
  }
  errno = error;
  return CannotLoad();
}

}  // namespace

LoadedObject::~LoadedObject() {
  if (begin_ != nullptr) munmap(begin_, size_);
}

StatusOr<LoadedObject> LoadedObject::Load(const SharedObject& object,
                                          const Descriptor* file) {
  StatusOr<LoadedObject> loaded = Reserve(object);
  if (!loaded.ok()) return loaded;
  for (const Elf64_Phdr& segment : object.segments()) {
    MXC_RT_RETURN_IF_ERROR(file != nullptr
                               ? loaded->MapSegment(segment, *file)
                               : loaded->CopySegment(object, segment));
  }
  MXC_RT_RETURN_IF_ERROR(loaded->Relocate(object));
  MXC_RT_RETURN_IF_ERROR(loaded->Protect(object));
  return loaded;
}

// The first segment begins at 0, the last ends the object.
StatusOr<LoadedObject> LoadedObject::Reserve(const SharedObject& object) {
  const Elf64_Phdr& last = object.segments().back();
  const uint64_t size = PageAfter(last.p_vaddr + last.p_memsz);
  uint64_t alignment = MXC_PAGE;
  for (const Elf64_Phdr& segment : object.segments()) {
    alignment = std::max<uint64_t>(alignment, segment.p_align);
  }
  const uint64_t reserved = size + alignment - MXC_PAGE;
  void* memory = mmap(nullptr, reserved, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return CannotLoad();
  const auto place = reinterpret_cast<uint64_t>(memory);
  const uint64_t before = (alignment - place % alignment) % alignment;
  auto* begin = static_cast<std::byte*>(memory) + before;
  if (before > 0) munmap(memory, before);
  if (const uint64_t after = reserved - before - size; after > 0) {
    munmap(begin + size, after);
  }
  LoadedObject loaded;
  loaded.begin_ = begin;
  loaded.size_ = size;
  return loaded;
}

// Zeros follow the bytes of a segment that is written to: the rest of their last
// page, and pages of no file.
Status LoadedObject::MapSegment(const Elf64_Phdr& segment,
                                const Descriptor& file) {
  const uint64_t begin = PageOf(segment.p_vaddr);
  const uint64_t filled = segment.p_vaddr + segment.p_filesz;
  if (segment.p_filesz > 0 &&
      mmap(begin_ + begin, PageAfter(filled) - begin, Rights(segment),
           MAP_PRIVATE | MAP_FIXED, file.get(),
           static_cast<off_t>(PageOf(segment.p_offset))) == MAP_FAILED) {
    return CannotMap(file);
  }
  const uint64_t end = segment.p_vaddr + segment.p_memsz;
  const uint64_t own_pages = segment.p_filesz > 0 ? PageAfter(filled) : begin;
  if (segment.p_memsz > segment.p_filesz) {
    std::memset(begin_ + filled, 0, std::min(end, own_pages) - filled);
  }
  if (PageAfter(end) > own_pages &&
      mprotect(begin_ + own_pages, PageAfter(end) - own_pages,
               Rights(segment)) != 0) {
    return CannotLoad();
  }
  return {};
}

Status LoadedObject::CopySegment(const SharedObject& object,
                                 const Elf64_Phdr& segment) {
  const uint64_t begin = PageOf(segment.p_vaddr);
  const uint64_t size = PageAfter(segment.p_vaddr + segment.p_memsz) - begin;
  if (size == 0) return {};
  if (mprotect(begin_ + begin, size, PROT_READ | PROT_WRITE) != 0) {
    return CannotLoad();
  }
  const Bytes bytes =
      object.bytes().subspan(segment.p_offset, segment.p_filesz);
  std::copy(bytes.begin(), bytes.end(), begin_ + segment.p_vaddr);
  return mprotect(begin_ + begin, size, Rights(segment)) == 0 ? Status()
                                                              : CannotLoad();
}

Status LoadedObject::Relocate(const SharedObject& object) {
  const auto set = [&](uint64_t at, const std::byte* value) -> Status {
    if (!object.IsWritable(at, sizeof value)) {
      return Fail(StatusCode::kCorrupt,
                  "its code is changed where it cannot be written");
    }
    std::memcpy(begin_ + at, &value, sizeof value);
    return {};
  };
  for (const auto& [at, target] : object.relocations()) {
    MXC_RT_RETURN_IF_ERROR(set(at, begin_ + target));
  }
  for (const auto& [at, name, addend] : object.imports()) {
    auto* symbol = static_cast<std::byte*>(dlsym(RTLD_DEFAULT, name));
    if (symbol == nullptr) {
      return Fail(StatusCode::kUnsupported, "nobody defines '%s'", name);
    }
    MXC_RT_RETURN_IF_ERROR(set(at, symbol + addend));
  }
  return {};
}

Status LoadedObject::Protect(const SharedObject& object) {
  const auto [address, size] = object.constant_after_relocation();
  const uint64_t begin = PageOf(address), end = PageOf(address + size);
  if (end <= begin) return {};
  return mprotect(begin_ + begin, end - begin, PROT_READ) == 0 ? Status()
                                                               : CannotLoad();
}

}  // namespace mxc::runtime
