// SPDX-License-Identifier: Apache-2.0
#include "tests/mutants/sealed_file.h"

#include <elf.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>

#include "runtime/artifact/shared_object.h"
#include "runtime/base/checksum.h"
#include "tools/signature/digest.h"

namespace mxc::test {
namespace {

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Where an exported object lies in the file.
std::pair<size_t, size_t> PlaceOf(const std::string& code, const char* name) {
  const auto object = runtime::SharedObject::Read(BytesOf(code));
  const auto symbol = object.ok() ? object->Find(name) : std::nullopt;
  if (!symbol) return {0, 0};
  return {static_cast<size_t>(symbol->bytes.data() - BytesOf(code).data()),
          symbol->bytes.size()};
}

void SetDigest(std::string& manifest, const std::string& key,
               const std::string& section) {
  const size_t at = manifest.find(key + ": ");
  const auto digest = signature::DigestOf(BytesOf(section));
  if (at == std::string::npos || !digest.ok()) return;
  const std::string text = signature::Hex(*digest);
  const size_t place = at + key.size() + 2;
  if (manifest.size() >= place + text.size()) {
    manifest.replace(place, text.size(), text);
  }
}

}  // namespace

SealedFile::SealedFile(const std::string& bytes) {
  mxc_trailer trailer;
  if (bytes.size() < sizeof trailer) std::abort();
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer,
              sizeof trailer);
  if (trailer.magic != MXC_TRAILER_MAGIC) std::abort();
  for (size_t i = 0; i < sections.size(); ++i) {
    sections[i] =
        bytes.substr(trailer.sections[i].offset, trailer.sections[i].size);
  }
}

std::string SealedFile::Content(mxc_trailer& trailer) const {
  auto sealed = sections;
  const uint64_t tables =
      runtime::Checksum(BytesOf(sealed[MXC_SECTION_TABLES]));
  std::string& code = sealed[MXC_SECTION_CODE];
  const auto [at, size] = PlaceOf(code, "mxc_abi");
  if (size >= sizeof(mxc_code_header)) {
    code.replace(at + offsetof(mxc_code_header, tables_checksum), sizeof tables,
                 reinterpret_cast<const char*>(&tables), sizeof tables);
  }
  std::string& manifest = sealed[MXC_SECTION_MANIFEST];
  SetDigest(manifest, "sha256_code", code);
  SetDigest(manifest, "sha256_weights", sealed[MXC_SECTION_WEIGHTS]);
  SetDigest(manifest, "sha256_tables", sealed[MXC_SECTION_TABLES]);
  SetDigest(manifest, "sha256_symbol", sealed[MXC_SECTION_SYMBOL]);
  std::string file;
  for (size_t i = 0; i < sealed.size(); ++i) {
    file.resize((file.size() + MXC_PAGE - 1) / MXC_PAGE * MXC_PAGE);
    trailer.sections[i] = {file.size(), sealed[i].size(),
                           runtime::Checksum(BytesOf(sealed[i]))};
    file += sealed[i];
  }
  trailer.file_size = file.size() + sizeof trailer;
  trailer.abi_version = MXC_ABI_VERSION;
  trailer.section_count = MXC_SECTION_COUNT;
  trailer.magic = MXC_TRAILER_MAGIC;
  return file;
}

std::string SealedFile::Close(mxc_trailer& trailer) {
  const auto bytes = std::as_bytes(std::span(&trailer, 1));
  trailer.checksum =
      runtime::Checksum(bytes.first(offsetof(mxc_trailer, checksum)));
  return std::string(reinterpret_cast<const char*>(&trailer), sizeof trailer);
}

std::vector<std::pair<size_t, size_t>> SealedFile::PartsOfCode() const {
  const std::string& code = sections[MXC_SECTION_CODE];
  Elf64_Ehdr header;
  std::memcpy(&header, code.data(), sizeof header);
  std::vector<std::pair<size_t, size_t>> parts = {
      {0, sizeof header},
      {header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)}};
  for (const char* name : {"mxc_abi", "mxc_limits", "mxc_operands"}) {
    parts.push_back(PlaceOf(code, name));
  }
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, code.data() + header.e_shoff + i * sizeof section,
                sizeof section);
    const bool loaded = (section.sh_flags & SHF_ALLOC) != 0;
    if (loaded && section.sh_type == SHT_RELA) {
      // Without the addends.
      for (size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Rela)) {
        parts.emplace_back(section.sh_offset + at,
                           offsetof(Elf64_Rela, r_addend));
      }
    } else if (loaded && (section.sh_type == SHT_DYNSYM ||
                          section.sh_type == SHT_STRTAB ||
                          section.sh_type == SHT_GNU_HASH ||
                          section.sh_type == SHT_DYNAMIC)) {
      parts.emplace_back(section.sh_offset, section.sh_size);
    }
  }
  std::erase_if(parts, [](const auto& part) { return part.second == 0; });
  return parts;
}

}  // namespace mxc::test
