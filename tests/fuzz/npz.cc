// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/npz.h"

#include "runtime/formats/npz.h"
#include "tests/fuzz/arrays.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/zip.h"

namespace mxc::fuzz {
namespace {

void RunNpz(Bytes input) {
  const auto members = data::ParseNpz({nullptr, input});
  if (!members.ok()) return;
  for (const data::NpzMember& member : *members) Touch(member.array.elements);
}

std::vector<std::string> NpzSeeds() {
  auto seeds = SmallFiles(&runtime::WriteNpz);
  const runtime::Array array = SmallArray(runtime::ElementType::kF32, {2, 3});
  const std::string npy = FileOf(
      [&](const std::string& path) { (void)runtime::WriteNpy(path, array); });
  seeds.push_back(ZipOf("x.npy", npy));
  return seeds;
}

}  // namespace

extern const Target npz;
const Target npz = {.run = RunNpz,
                    .seeds = NpzSeeds,
                    .most_bytes = 1024,
                    .words = {"PK\1\2", "PK\3\4", "PK\5\6", "PK\6\6", "PK\6\7",
                              "\xff\xff\xff\xff", "\x93NUMPY", ".npy"},
                    .seal = SealZip};

}  // namespace mxc::fuzz
