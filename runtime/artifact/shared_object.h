// SPDX-License-Identifier: Apache-2.0
// An ELF shared object as untrusted bytes.
//
// A dynamic linker trusts the bytes of what it loads and may run code of theirs.
// An object that Read accepts is loaded without running anything: it needs no
// library, has no constructors, and defines all its symbols. Who loads it places
// its segments, adds their address to one table, and is done
// (loaded_object.h, or any dynamic linker).
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// Where the page of an address begins, and the first one that is not below it.
inline uint64_t PageOf(uint64_t address) {
  return address / MXC_PAGE * MXC_PAGE;
}
inline uint64_t PageAfter(uint64_t address) {
  return PageOf(address + MXC_PAGE - 1);
}

class SharedObject {
 public:
  // Under the thread sanitizer the kernels of tests call its library, which
  // takes what is refused otherwise.
#ifdef __SANITIZE_THREAD__
  static constexpr bool kInstrumented = true;
#else
  static constexpr bool kInstrumented = false;
#endif

  // Refuses what could do more than lie in memory when it is loaded. `bytes`
  // must outlive the object and be aligned to 8.
  static StatusOr<SharedObject> Read(Bytes bytes);

  // An exported object.
  struct Symbol {
    uint64_t address;  // from where the shared object is loaded
    Bytes bytes;       // of the file
    bool writable;
  };
  std::optional<Symbol> Find(std::string_view name) const;

  // Words that get the shared object's address added: where, and what is added
  // to it.
  struct Relocation {
    uint64_t address, target;
  };
  const std::vector<Relocation>& relocations() const { return relocations_; }

  // Words that get the address of somebody else's symbol, and what is added to
  // it. Only where kInstrumented.
  struct Import {
    uint64_t address;
    const char* name;
    int64_t addend;
  };
  const std::vector<Import>& imports() const { return imports_; }

  struct Range {
    uint64_t address = 0, size = 0;
  };
  // Nobody writes to it once it is relocated (PT_GNU_RELRO).
  const Range& constant_after_relocation() const { return constant_; }

  // Those that are loaded, by address: the first at 0, each on pages of its own.
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  // Of the file.
  Bytes bytes() const { return bytes_; }

  bool IsExecutable(uint64_t address) const;
  bool IsWritable(uint64_t address, uint64_t size) const;

 private:
  friend class SharedObjectCheck;

  const Elf64_Phdr* SegmentOf(uint64_t address, uint64_t size) const;

  Bytes bytes_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Relocation> relocations_;
  std::vector<Import> imports_;
  Range constant_;
  std::span<const Elf64_Sym> symbols_;
  std::string_view strings_;
};

}  // namespace mxc::runtime
