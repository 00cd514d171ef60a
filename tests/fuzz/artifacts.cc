// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/artifacts.h"

#include <elf.h>

#include <cstddef>

#include "runtime/base/checksum.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"
#include "tests/runtime/block_artifacts.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::fuzz {
namespace {

std::string CodeHeader() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  return Number(header);
}

}  // namespace

std::vector<std::string> TablesOfArtifacts() {
  return {test::ExampleArtifact().Tables(),  test::ChainArtifact().Tables(),
          test::PreparedArtifact().Tables(), test::TrainArtifact().Tables(),
          test::ScanArtifact().Tables(),     test::NestedArtifact().Tables(),
          test::TravelArtifact().Tables()};
}

std::string ArtifactOf(const std::string& tables) {
  const std::string sections[MXC_SECTION_COUNT] = {
      CodeHeader(), std::string(8192, '\0'), tables, kManifest, "{}", ""};
  std::string file;
  mxc_trailer trailer{};
  for (int i = 0; i < MXC_SECTION_COUNT; ++i) {
    file.resize((file.size() + MXC_PAGE - 1) / MXC_PAGE * MXC_PAGE);
    trailer.sections[i] = {file.size(), sections[i].size(),
                           runtime::Checksum(BytesOf(sections[i]))};
    file += sections[i];
  }
  trailer.file_size = file.size() + sizeof trailer;
  trailer.abi_version = MXC_ABI_VERSION;
  trailer.section_count = MXC_SECTION_COUNT;
  trailer.magic = MXC_TRAILER_MAGIC;
  const std::string checked = Number(trailer);
  trailer.checksum = runtime::Checksum(
      BytesOf(checked).first(offsetof(mxc_trailer, checksum)));
  return file + Number(trailer);
}

}  // namespace mxc::fuzz
