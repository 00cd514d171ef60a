// SPDX-License-Identifier: Apache-2.0
// A whole artifact, as far as it is read before its code is loaded.
#include "runtime/artifact/container.h"

#include <cstddef>

#include "runtime/artifact/manifest.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/checksum.h"
#include "tests/fuzz/artifacts.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunContainer(Bytes input) {
  static MemoryFile file;
  const auto container = runtime::Container::Open(file.Hold(input));
  if (!container.ok()) return;
  for (const mxc_section_kind kind :
       {MXC_SECTION_WEIGHTS, MXC_SECTION_SYMBOL}) {
    (void)container->CheckSection(kind);
  }
  (void)runtime::ManifestValues(
      TextOf(container->section(MXC_SECTION_MANIFEST)), "label_names");
  const Bytes tables = container->section(MXC_SECTION_TABLES);
  const size_t weights = container->section(MXC_SECTION_WEIGHTS).size();
  (void)runtime::Tables::Parse(tables, weights);
}

std::vector<std::string> ContainerSeeds() {
  std::vector<std::string> seeds;
  for (const std::string& tables : TablesOfArtifacts()) {
    seeds.push_back(ArtifactOf(tables));
  }
  return seeds;
}

void SealContainer(std::span<std::byte> file) {
  mxc_trailer trailer;
  if (file.size() < sizeof trailer) return;
  const size_t end = file.size() - sizeof trailer;
  trailer = Load<mxc_trailer>(file, end);
  for (mxc_section& section : trailer.sections) {
    const auto bytes = runtime::Slice(file, section.offset, section.size);
    if (bytes) section.checksum = runtime::Checksum(*bytes);
  }
  trailer.file_size = file.size();
  trailer.magic = MXC_TRAILER_MAGIC;
  Store(file, end, trailer);
  trailer.checksum = runtime::Checksum(
      Bytes(file).subspan(end, offsetof(mxc_trailer, checksum)));
  Store(file, end, trailer);
}

}  // namespace

extern const Target container;
const Target container = {.run = RunContainer,
                          .seeds = ContainerSeeds,
                          .most_bytes = 1 << 15,
                          .seal = SealContainer};

}  // namespace mxc::fuzz
