// SPDX-License-Identifier: Apache-2.0
// How SharedObject::Read looks at the bytes: the file's own header and segments
// (shared_object_segments.cc), then the tables of the dynamic linker
// (shared_object_tables.cc).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/artifact/shared_object.h"

namespace mxc::runtime {

#if defined(__x86_64__)
inline constexpr uint16_t kElfMachine = EM_X86_64;
inline constexpr uint32_t kRelative = R_X86_64_RELATIVE;
#elif defined(__aarch64__)
inline constexpr uint16_t kElfMachine = EM_AARCH64;
inline constexpr uint32_t kRelative = R_AARCH64_RELATIVE;
#elif defined(__riscv)
inline constexpr uint16_t kElfMachine = EM_RISCV;
inline constexpr uint32_t kRelative = R_RISCV_RELATIVE;
#else
#error "which ELF machine is this?"
#endif

// One function for each table of the file, in the order in which they are
// needed.
class SharedObjectCheck {
 public:
  explicit SharedObjectCheck(SharedObject& object) : object_(object) {}

  Status Header();
  Status Segments();
  Status Dynamic();
  Status Symbols();
  Status Relocations();

 private:
  Status Segment(const Elf64_Phdr& segment);
  Status Loaded(const Elf64_Phdr& segment);
  bool FitsFile(const Elf64_Phdr& segment) const;
  Status DynamicTable(const Elf64_Phdr& segment);
  Status ReadOnlyPart(const Elf64_Phdr& segment);
  Status Placed(const Elf64_Phdr& segment) const;
  Status Flags() const;
  std::optional<uint64_t> CountSymbols() const;
  Status Symbol(const Elf64_Sym& symbol) const;
  void Import(const Elf64_Rela& row);
  std::optional<Bytes> At(uint64_t address, uint64_t size) const;
  template <class T>
  std::optional<std::span<const T>> TableAt(uint64_t address,
                                            uint64_t count) const;
  bool Has(int64_t tag) const { return Value(tag).has_value(); }
  std::optional<uint64_t> Value(int64_t tag) const;

  SharedObject& object_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> headers_;
  std::vector<Elf64_Dyn> dynamic_;
};

// "its code has constructors"
inline Status RefuseCode(const char* what) {
  return Fail(StatusCode::kCorrupt, "its code %s", what);
}

template <class T>
std::optional<std::span<const T>> SharedObjectCheck::TableAt(
    uint64_t address, uint64_t count) const {
  const auto size = Multiply(count, sizeof(T));
  const auto bytes = size ? At(address, *size) : std::nullopt;
  return bytes ? ArrayAt<T>(*bytes, 0, count) : std::nullopt;
}

}  // namespace mxc::runtime
