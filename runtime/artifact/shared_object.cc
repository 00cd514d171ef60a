// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/shared_object.h"

#include "runtime/artifact/shared_object_check.h"

namespace mxc::runtime {

StatusOr<SharedObject> SharedObject::Read(Bytes bytes) {
  SharedObject object;
  object.bytes_ = bytes;
  SharedObjectCheck check(object);
  MXC_RT_RETURN_IF_ERROR(check.Header());
  MXC_RT_RETURN_IF_ERROR(check.Segments());
  MXC_RT_RETURN_IF_ERROR(check.Dynamic());
  MXC_RT_RETURN_IF_ERROR(check.Symbols());
  MXC_RT_RETURN_IF_ERROR(check.Relocations());
  return object;
}

const Elf64_Phdr* SharedObject::SegmentOf(uint64_t address,
                                          uint64_t size) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (address >= segment.p_vaddr &&
        Within(address - segment.p_vaddr, size, segment.p_filesz)) {
      return &segment;
    }
  }
  return nullptr;
}

bool SharedObject::IsExecutable(uint64_t address) const {
  const Elf64_Phdr* segment = SegmentOf(address, 1);
  return segment != nullptr && (segment->p_flags & PF_X) != 0;
}

bool SharedObject::IsWritable(uint64_t address, uint64_t size) const {
  const Elf64_Phdr* segment = SegmentOf(address, size);
  return segment != nullptr && (segment->p_flags & PF_W) != 0;
}

std::optional<SharedObject::Symbol> SharedObject::Find(
    std::string_view name) const {
  for (const Elf64_Sym& symbol : symbols_) {
    const std::string_view text = strings_.substr(symbol.st_name);
    if (!text.starts_with(name) || text[name.size()] != '\0') continue;
    const Elf64_Phdr* segment = SegmentOf(symbol.st_value, symbol.st_size);
    if (segment == nullptr) return std::nullopt;
    const uint64_t at =
        segment->p_offset + (symbol.st_value - segment->p_vaddr);
    return Symbol{symbol.st_value, bytes_.subspan(at, symbol.st_size),
                  (segment->p_flags & PF_W) != 0};
  }
  return std::nullopt;
}

}  // namespace mxc::runtime
