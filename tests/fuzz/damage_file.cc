// SPDX-License-Identifier: Apache-2.0
// fuzz_damage KIND SEED FROM TO: writes a damaged copy of a file. KIND is json,
// bytes, or container: an artifact whose checksums are right again, and whose
// code is as it was.
#include <cstdio>
#include <cstdlib>

#include "runtime/abi/abi.h"
#include "runtime/base/checksum.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/damage.h"
#include "tests/support/hurtful_values.h"
#include "tests/support/temporary_folder.h"

namespace mxc::fuzz {

extern const Target container;

namespace {

// The code names the checksum of its tables.
void NameTables(std::span<std::byte> file, const mxc_trailer& before) {
  const mxc_section& code = before.sections[MXC_SECTION_CODE];
  const mxc_section& tables = before.sections[MXC_SECTION_TABLES];
  const uint64_t checksum =
      runtime::Checksum(file.subspan(tables.offset, tables.size));
  for (size_t at = 0; at + 8 <= code.size; at += 8) {
    if (Load<uint64_t>(file, code.offset + at) == tables.checksum) {
      Store(file, code.offset + at, checksum);
    }
  }
}

// Numbers of the tables and of the trailer; the code would otherwise do
// whatever the damage makes of it.
std::string DamagedArtifact(std::string file, std::mt19937& random) {
  if (file.size() < sizeof(mxc_trailer)) return file;
  const size_t end = file.size() - sizeof(mxc_trailer);
  const auto trailer = Load<mxc_trailer>(BytesOf(file), end);
  const mxc_section& tables = trailer.sections[MXC_SECTION_TABLES];
  const mxc_section& manifest = trailer.sections[MXC_SECTION_MANIFEST];
  const auto bytes = std::as_writable_bytes(std::span(file));
  for (size_t changes = 1 + random() % 4; changes > 0; --changes) {
    const uint32_t chance = random() % 20;
    const size_t begin = chance == 0   ? end
                         : chance == 1 ? manifest.offset
                                       : tables.offset;
    const size_t size = chance == 0   ? sizeof trailer
                        : chance == 1 ? manifest.size
                                      : tables.size;
    if (size < 8) continue;
    const size_t at = begin + random() % (size / 4) * 4;
    const auto was = Load<uint32_t>(bytes, at);
    const uint32_t drawn[] = {static_cast<uint32_t>(random()), was + 1,
                              was * 2};
    const uint64_t hurtful =
        test::kHurtfulValues[random() % std::size(test::kHurtfulValues)];
    Store(bytes, at,
          random() % 4 == 0 ? drawn[random() % std::size(drawn)]
                            : static_cast<uint32_t>(hurtful));
  }
  if (random() % 5 != 0) {
    NameTables(bytes, trailer);
    container.seal(bytes);
  }
  return file;
}

std::string Damaged(std::string_view kind, const std::string& file,
                    std::mt19937& random) {
  if (kind == "json") return DamagedJson(file, random);
  if (kind == "container") return DamagedArtifact(file, random);
  return DamagedBytes({}, file, random);
}

}  // namespace
}  // namespace mxc::fuzz

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: fuzz_damage KIND SEED FROM TO\n");
    return 2;
  }
  std::mt19937 random(static_cast<uint32_t>(std::atoi(argv[2])));
  const std::string file = mxc::test::TextOf(argv[3]);
  mxc::test::WriteText(argv[4], mxc::fuzz::Damaged(argv[1], file, random));
}
