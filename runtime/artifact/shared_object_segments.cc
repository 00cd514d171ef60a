// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/shared_object_check.h"

#include <cstring>
#include <string>

#include "runtime/abi/abi.h"

namespace mxc::runtime {
namespace {

constexpr uint64_t kMostSegments = 32;
constexpr uint64_t kMostZeros = 1 << 16;  // of a segment, behind its bytes
constexpr uint64_t kMostAlignment = 1 << 21;

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "riscv64";
    default:
      return Format("ELF machine %u", machine);
  }
}

}  // namespace

std::optional<Bytes> SharedObjectCheck::At(uint64_t address,
                                           uint64_t size) const {
  const Elf64_Phdr* segment = object_.SegmentOf(address, size);
  if (segment == nullptr) return std::nullopt;
  return object_.bytes_.subspan(
      segment->p_offset + (address - segment->p_vaddr), size);
}

Status SharedObjectCheck::Header() {
  const auto header = ArrayAt<Elf64_Ehdr>(object_.bytes_, 0, 1);
  if (!header) return RefuseCode("is no shared object");
  header_ = header->front();
  if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
      header_.e_ident[EI_CLASS] != ELFCLASS64 ||
      header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      header_.e_ident[EI_VERSION] != EV_CURRENT ||
      header_.e_version != EV_CURRENT || header_.e_type != ET_DYN) {
    return RefuseCode("is no shared object");
  }
  if (header_.e_machine != kElfMachine) {
    return Fail(StatusCode::kUnsupported,
                "compiled for another processor architecture (%s; this one is "
                "%s)",
                MachineName(header_.e_machine).c_str(),
                MachineName(kElfMachine).c_str());
  }
  const auto headers =
      ArrayAt<Elf64_Phdr>(object_.bytes_, header_.e_phoff, header_.e_phnum);
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || !headers ||
      headers->size() > kMostSegments) {
    return RefuseCode("has no table of segments");
  }
  headers_.assign(headers->begin(), headers->end());
  return {};
}

Status SharedObjectCheck::Segments() {
  for (const Elf64_Phdr& segment : headers_) {
    if (segment.p_type == PT_LOAD) MXC_RT_RETURN_IF_ERROR(Loaded(segment));
  }
  if (object_.segments_.empty()) return RefuseCode("has no segment to load");
  bool stack = false;
  for (const Elf64_Phdr& segment : headers_) {
    MXC_RT_RETURN_IF_ERROR(Segment(segment));
    stack = stack || segment.p_type == PT_GNU_STACK;
  }
  // Where nobody says anything, stacks are executable.
  if (!stack) return RefuseCode("asks for a stack that is executable");
  return {};
}

bool SharedObjectCheck::FitsFile(const Elf64_Phdr& segment) const {
  const uint64_t size = object_.bytes_.size();
  const uint64_t zeros = segment.p_memsz - segment.p_filesz;
  return Within(segment.p_offset, segment.p_filesz, size) &&
         segment.p_memsz >= segment.p_filesz && zeros <= kMostZeros &&
         ((segment.p_flags & PF_W) != 0 || zeros == 0) &&
         Within(segment.p_vaddr, segment.p_memsz,
                size + kMostSegments * kMostAlignment) &&
         segment.p_align >= MXC_PAGE && segment.p_align <= kMostAlignment &&
         (segment.p_align & (segment.p_align - 1)) == 0 &&
         segment.p_vaddr % segment.p_align ==
             segment.p_offset % segment.p_align;
}

// In the order of their addresses, which begin with the file, on pages of their
// own.
Status SharedObjectCheck::Loaded(const Elf64_Phdr& segment) {
  const auto& before = object_.segments_;
  const bool in_place =
      before.empty()
          ? segment.p_vaddr == 0 && segment.p_offset == 0
          : PageOf(segment.p_vaddr) >=
                PageAfter(before.back().p_vaddr + before.back().p_memsz);
  if (!in_place || !FitsFile(segment) || (segment.p_flags & PF_R) == 0) {
    return RefuseCode("has segments that do not fit");
  }
  if ((segment.p_flags & PF_W) != 0 && (segment.p_flags & PF_X) != 0) {
    return RefuseCode("has a segment that is writable and executable");
  }
  object_.segments_.push_back(segment);
  return {};
}

// What the dynamic linker, or who unwinds the stack, believes of the others.
Status SharedObjectCheck::Segment(const Elf64_Phdr& segment) {
  switch (segment.p_type) {
    case PT_LOAD:
      return {};
    case PT_DYNAMIC:
      return DynamicTable(segment);
    case PT_GNU_RELRO:
      return ReadOnlyPart(segment);
    case PT_GNU_STACK:
      if ((segment.p_flags & PF_X) == 0) return {};
      return RefuseCode("asks for a stack that is executable");
    case PT_PHDR:
      if (segment.p_offset != header_.e_phoff ||
          segment.p_filesz < headers_.size() * sizeof(Elf64_Phdr)) {
        return RefuseCode("has segments that do not fit");
      }
      return Placed(segment);
    case PT_GNU_EH_FRAME:
      return Placed(segment);
    case PT_TLS:
      return RefuseCode("has variables of a thread");
    case PT_INTERP:
      return RefuseCode("names a program that is to load it");
#if defined(__riscv)
    case 0x70000003:  // PT_RISCV_ATTRIBUTES: which instructions; nothing loads it
      return {};
#endif
    default:
      if (SharedObject::kInstrumented) return {};
      return RefuseCode("has a segment of a kind that generated code has not");
  }
}

// The dynamic linker writes to it.
Status SharedObjectCheck::DynamicTable(const Elf64_Phdr& segment) {
  MXC_RT_RETURN_IF_ERROR(Placed(segment));
  const auto rows =
      TableAt<Elf64_Dyn>(segment.p_vaddr, segment.p_filesz / sizeof(Elf64_Dyn));
  if (!rows || rows->empty() || !dynamic_.empty() ||
      (object_.SegmentOf(segment.p_vaddr, 1)->p_flags & PF_W) == 0) {
    return RefuseCode("has no dynamic table where one can be");
  }
  dynamic_.assign(rows->begin(), rows->end());
  return {};
}

// All pages that it lies on are made read-only.
Status SharedObjectCheck::ReadOnlyPart(const Elf64_Phdr& segment) {
  const Elf64_Phdr* in = object_.SegmentOf(segment.p_vaddr, 1);
  if (in != nullptr && (in->p_flags & PF_W) != 0 &&
      segment.p_vaddr - in->p_vaddr + segment.p_memsz <=
          PageAfter(in->p_memsz) &&
      segment.p_memsz <= in->p_memsz + MXC_PAGE) {
    object_.constant_ = {segment.p_vaddr, segment.p_memsz};
    return {};
  }
  return RefuseCode("has segments that do not fit");
}

// Lies in a loaded segment, where its offset says, too.
Status SharedObjectCheck::Placed(const Elf64_Phdr& segment) const {
  const Elf64_Phdr* in = object_.SegmentOf(segment.p_vaddr, segment.p_filesz);
  if (in != nullptr && segment.p_memsz == segment.p_filesz &&
      segment.p_offset - in->p_offset == segment.p_vaddr - in->p_vaddr) {
    return {};
  }
  return RefuseCode("has segments that do not fit");
}

}  // namespace mxc::runtime
