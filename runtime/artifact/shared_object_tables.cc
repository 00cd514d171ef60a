// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/shared_object_check.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mxc::runtime {
namespace {

constexpr bool kInstrumented = SharedObject::kInstrumented;

// The entries that generated code has; each is a place or a size that is
// checked, or a wish of the linker's that changes nothing.
constexpr std::array<int64_t, 12> kDynamicTags = {
    DT_SYMTAB, DT_SYMENT,  DT_STRTAB,    DT_STRSZ, DT_GNU_HASH, DT_RELA,
    DT_RELASZ, DT_RELAENT, DT_RELACOUNT, DT_FLAGS, DT_FLAGS_1,  DT_PLTGOT};

const char* WhyNoDynamicEntry(int64_t tag) {
  switch (tag) {
    case DT_NEEDED:
    case DT_AUXILIARY:
    case DT_FILTER:
    case DT_AUDIT:
    case DT_DEPAUDIT:
      return "needs another library";
    case DT_INIT:
    case DT_INIT_ARRAY:
    case DT_PREINIT_ARRAY:
      return "has constructors";
    case DT_FINI:
    case DT_FINI_ARRAY:
      return "has destructors";
    case DT_JMPREL:
    case DT_REL:
    case DT_RELR:
      return "has relocations of a kind that generated code has not";
    case DT_TEXTREL:
      return "is changed when it is loaded";
    default:
      return "has a dynamic entry that generated code has not";
  }
}

}  // namespace

std::optional<uint64_t> SharedObjectCheck::Value(int64_t tag) const {
  for (const Elf64_Dyn& entry : dynamic_) {
    if (entry.d_tag == tag) return entry.d_un.d_val;
  }
  return std::nullopt;
}

Status SharedObjectCheck::Dynamic() {
  const auto end =
      std::find_if(dynamic_.begin(), dynamic_.end(),
                   [](const Elf64_Dyn& e) { return e.d_tag == DT_NULL; });
  if (end == dynamic_.end())
    return RefuseCode("has a dynamic table without end");
  dynamic_.erase(end, dynamic_.end());
  for (size_t i = 0; i < dynamic_.size(); ++i) {
    const int64_t tag = dynamic_[i].d_tag;
    const bool known = std::find(kDynamicTags.begin(), kDynamicTags.end(),
                                 tag) != kDynamicTags.end();
    if (!known && !kInstrumented) return RefuseCode(WhyNoDynamicEntry(tag));
    for (size_t j = 0; known && j < i; ++j) {
      if (dynamic_[j].d_tag == tag) return RefuseCode("says something twice");
    }
  }
  return Flags();
}

Status SharedObjectCheck::Flags() const {
  constexpr uint64_t kFlags = DF_BIND_NOW | DF_SYMBOLIC;
  constexpr uint64_t kFlags1 = DF_1_NOW;
  if (kInstrumented || ((Value(DT_FLAGS).value_or(0) & ~kFlags) == 0 &&
                        (Value(DT_FLAGS_1).value_or(0) & ~kFlags1) == 0)) {
    return {};
  }
  return RefuseCode("has flags that generated code has not");
}

// The symbol table has no length of its own: it ends with the last chain of the
// hash table. Symbols that are defined elsewhere stand before `first`.
std::optional<uint64_t> SharedObjectCheck::CountSymbols() const {
  struct Head {
    uint32_t buckets, first, bloom_words, bloom_shift;
  };
  const uint64_t address = Value(DT_GNU_HASH).value_or(0);
  const auto head = TableAt<Head>(address, 1);
  if (!head) return std::nullopt;
  const auto [buckets, first, words, shift] = head->front();
  if (buckets == 0 || words == 0 || (words & (words - 1)) != 0 || shift >= 64) {
    return std::nullopt;
  }
  if (first != 1 && !kInstrumented) return std::nullopt;
  const uint64_t bucket_address = address + sizeof(Head) + uint64_t{words} * 8;
  const uint64_t chain_address = bucket_address + uint64_t{buckets} * 4;
  const auto rows = TableAt<uint32_t>(bucket_address, buckets);
  if (!rows) return std::nullopt;
  uint64_t count = first;
  for (const uint32_t bucket : *rows) {
    if (bucket != 0 && bucket < first) return std::nullopt;
    // Chains lie one after the other: none is walked twice.
    for (uint64_t i = bucket; i >= count; ++i) {
      const auto link = TableAt<uint32_t>(chain_address + (i - first) * 4, 1);
      if (!link) return std::nullopt;
      count = i + 1;
      if (link->front() & 1) break;
    }
  }
  return count;
}

Status SharedObjectCheck::Symbols() {
  const auto strings =
      At(Value(DT_STRTAB).value_or(0), Value(DT_STRSZ).value_or(0));
  if (!strings || strings->empty() || strings->back() != std::byte{0}) {
    return RefuseCode("has no strings");
  }
  object_.strings_ = {reinterpret_cast<const char*>(strings->data()),
                      strings->size()};
  const std::optional<uint64_t> count = CountSymbols();
  if (!count) return RefuseCode("has no table of symbols that it defines");
  const auto symbols = TableAt<Elf64_Sym>(Value(DT_SYMTAB).value_or(0), *count);
  if (!symbols || symbols->empty() || Value(DT_SYMENT) != sizeof(Elf64_Sym)) {
    return RefuseCode("has no table of symbols that it defines");
  }
  object_.symbols_ = symbols->subspan(1);
  for (const Elf64_Sym& symbol : object_.symbols_) {
    MXC_RT_RETURN_IF_ERROR(Symbol(symbol));
  }
  return {};
}

Status SharedObjectCheck::Symbol(const Elf64_Sym& symbol) const {
  if (symbol.st_name >= object_.strings_.size()) {
    return RefuseCode("has a symbol without a name");
  }
  if (kInstrumented) return {};
  if (symbol.st_shndx == SHN_UNDEF) {
    return RefuseCode("uses a symbol that it does not define");
  }
  const int type = ELF64_ST_TYPE(symbol.st_info);
  if (type != STT_OBJECT && type != STT_FUNC && type != STT_NOTYPE) {
    return RefuseCode("has a symbol of a kind that generated code has not");
  }
  return {};
}

void SharedObjectCheck::Import(const Elf64_Rela& row) {
  const uint64_t symbol = ELF64_R_SYM(row.r_info);
  if (symbol == 0 || symbol > object_.symbols_.size()) return;
  const Elf64_Sym& found = object_.symbols_[symbol - 1];
  if (found.st_shndx != SHN_UNDEF) {
    object_.relocations_.push_back(
        {row.r_offset, found.st_value + static_cast<uint64_t>(row.r_addend)});
    return;
  }
  object_.imports_.push_back(
      {row.r_offset, object_.strings_.data() + found.st_name, row.r_addend});
}

Status SharedObjectCheck::Relocations() {
  const uint64_t bytes = Value(DT_RELASZ).value_or(0);
  const auto rows = TableAt<Elf64_Rela>(Value(DT_RELA).value_or(0),
                                        bytes / sizeof(Elf64_Rela));
  const bool sizes_fit =
      bytes % sizeof(Elf64_Rela) == 0 &&
      Value(DT_RELACOUNT).value_or(0) <= bytes / sizeof(Elf64_Rela) &&
      Has(DT_RELA) == Has(DT_RELASZ) &&
      Value(DT_RELAENT).value_or(sizeof(Elf64_Rela)) == sizeof(Elf64_Rela) &&
      Has(DT_RELAENT) == Has(DT_RELA);
  if ((bytes > 0 && !rows) || !sizes_fit) {
    return RefuseCode("has no table of relocations");
  }
  if (kInstrumented) {
    const uint64_t calls = Value(DT_PLTRELSZ).value_or(0) / sizeof(Elf64_Rela);
    const auto called =
        TableAt<Elf64_Rela>(Value(DT_JMPREL).value_or(0), calls);
    if (calls > 0 && called) {
      for (const Elf64_Rela& row : *called) Import(row);
    }
  }
  if (bytes == 0) return {};
  for (const Elf64_Rela& row : *rows) {
    if (ELF64_R_TYPE(row.r_info) == kRelative && ELF64_R_SYM(row.r_info) == 0) {
      object_.relocations_.push_back(
          {row.r_offset, static_cast<uint64_t>(row.r_addend)});
    } else if (kInstrumented) {
      Import(row);
    } else {
      return RefuseCode(
          "has relocations of a kind that generated code has not");
    }
  }
  return {};
}

}  // namespace mxc::runtime
