// SPDX-License-Identifier: Apache-2.0
#include "runtime/artifact/container.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "runtime/base/checksum.h"

namespace mxc::runtime {
namespace {

constexpr std::array<const char*, MXC_SECTION_COUNT> kSectionNames = {
    "code", "weights", "tables", "manifest", "symbol JSON", "device"};

// JSON, where an artifact has ELF's magic number.
bool LooksLikeNetwork(Bytes bytes) {
  return !bytes.empty() && static_cast<char>(bytes[0]) == '{';
}

}  // namespace

StatusOr<Container> Container::Open(const std::string& path,
                                    const Approval& approve) {
  Container container;
  StatusOr<Descriptor> file = OpenFile(path);
  if (!file.ok()) return file.status();
  container.file_ = std::move(*file);
  StatusOr<MappedFile> mapping = MappedFile::Map(container.file_, path);
  if (!mapping.ok()) return mapping.status();
  container.mapping_ = std::move(*mapping);
  container.bytes_ = container.mapping_.bytes();
  MXC_RT_RETURN_IF_ERROR(container.Check(approve));
  return container;
}

StatusOr<Container> Container::Copy(Bytes file, const std::string& name,
                                    const Approval& approve) {
  Container container;
  if (!file.empty()) {
    StatusOr<Region> copy = Region::Allocate(file.size(), name.c_str());
    if (!copy.ok()) return copy.status();
    container.copy_ = std::move(*copy);
    std::ranges::copy(file, container.copy_.data());
    container.bytes_ = {container.copy_.data(), file.size()};
  }
  MXC_RT_RETURN_IF_ERROR(container.Check(approve));
  return container;
}

Status Container::Check(const Approval& approve) {
  MXC_RT_RETURN_IF_ERROR(ReadTrailer());
  if (approve) MXC_RT_RETURN_IF_ERROR(approve(bytes()));
  MXC_RT_RETURN_IF_ERROR(CheckPlaces());
  for (const mxc_section_kind kind :
       {MXC_SECTION_CODE, MXC_SECTION_TABLES, MXC_SECTION_MANIFEST,
        MXC_SECTION_DEVICE}) {
    MXC_RT_RETURN_IF_ERROR(CheckSection(kind));
  }
  return {};
}

Status Container::ReadTrailer() {
  const Bytes bytes = bytes_;
  if (LooksLikeNetwork(bytes)) {
    return Fail(StatusCode::kCorrupt,
                "a network, expected a compiled one; 'mxc compile' makes it");
  }
  if (bytes.size() < sizeof trailer_) {
    return Fail(StatusCode::kCorrupt,
                "too short for an artifact; 'mxc compile' makes one");
  }
  std::memcpy(&trailer_, bytes.last(sizeof trailer_).data(), sizeof trailer_);
  if (trailer_.magic != MXC_TRAILER_MAGIC) {
    return Fail(StatusCode::kCorrupt,
                "no artifact, or its end is missing (%zu bytes); 'mxc compile' "
                "makes one",
                bytes.size());
  }
  if (trailer_.abi_version != MXC_ABI_VERSION) {
    return Fail(StatusCode::kUnsupported,
                "format version %u, this runtime reads version %u; compile the "
                "model again",
                trailer_.abi_version, MXC_ABI_VERSION);
  }
  const Bytes checked =
      bytes.last(sizeof trailer_).first(offsetof(mxc_trailer, checksum));
  if (Checksum(checked) != trailer_.checksum) {
    return Fail(StatusCode::kCorrupt, "damaged: its trailer has changed");
  }
  if (trailer_.file_size != bytes.size() ||
      trailer_.section_count != MXC_SECTION_COUNT) {
    return Fail(StatusCode::kCorrupt, "damaged: %zu bytes, %llu were written",
                bytes.size(),
                static_cast<unsigned long long>(trailer_.file_size));
  }
  return {};
}

Status Container::CheckPlaces() const {
  const uint64_t limit = trailer_.file_size - sizeof trailer_;
  uint64_t end = 0;
  bool good = trailer_.sections[MXC_SECTION_CODE].offset == 0;
  for (const mxc_section& section : InOrder()) {
    good = good && Within(section.offset, section.size, limit) &&
           section.offset % MXC_PAGE == 0 && section.offset >= end;
    end = section.offset + section.size;
  }
  if (good) return {};
  return Fail(StatusCode::kCorrupt, "damaged: its sections do not fit");
}

std::array<mxc_section, MXC_SECTION_COUNT> Container::InOrder() const {
  std::array<mxc_section, MXC_SECTION_COUNT> sections;
  std::ranges::copy(trailer_.sections, sections.begin());
  std::ranges::sort(sections, {}, [](const mxc_section& section) {
    return std::pair(section.offset, section.size);
  });
  return sections;
}

Status Container::CheckGaps() const {
  uint64_t end = 0;
  const auto is_empty_to = [&](uint64_t begin) {
    const Bytes gap = bytes().subspan(end, begin - end);
    return std::ranges::all_of(gap,
                               [](std::byte b) { return b == std::byte{}; });
  };
  bool empty = true;
  for (const mxc_section& section : InOrder()) {
    empty = empty && is_empty_to(section.offset);
    end = section.offset + section.size;
  }
  if (empty && is_empty_to(trailer_.file_size - sizeof trailer_)) return {};
  return Fail(StatusCode::kCorrupt,
              "altered: something lies between its sections");
}

Bytes Container::section(mxc_section_kind kind) const {
  const mxc_section& section = trailer_.sections[kind];
  return bytes_.subspan(section.offset, section.size);
}

Status Container::CheckSection(mxc_section_kind kind) const {
  if (Checksum(section(kind)) == trailer_.sections[kind].checksum) return {};
  return Fail(StatusCode::kCorrupt, "damaged: the %s section has changed",
              kSectionNames[kind]);
}

}  // namespace mxc::runtime
