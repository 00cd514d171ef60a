// SPDX-License-Identifier: Apache-2.0
// The .mxc of a checkpoint.
#include "runtime/train/checkpoint.h"
#include "runtime/base/checksum.h"
#include "runtime/data/iterator.h"
#include "runtime/data/label_names.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/train/checkpoint_record.h"
#include "tests/fuzz/arrays.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"
#include "tests/support/temporary_folder.h"

namespace mxc::fuzz {
namespace {

void RunCheckpoint(Bytes input) {
  const auto record = train::ParseCheckpointRecord(input, "a.mxc");
  if (!record.ok()) return;
  for (const auto& [word, line] : record->notes) {
    (void)data::ParseLabelNames(line);
    (void)data::ParseCursor(line);
  }
  const auto arrays = runtime::ParseNdarrayList(record->arrays);
  if (!arrays.ok()) return;
  for (const runtime::NamedArray& named : *arrays) Touch(named.array.bytes());
}

std::vector<std::string> CheckpointSeeds() {
  std::vector<std::string> seeds;
  for (const auto& arrays : SmallArrays()) {
    const test::TemporaryFolder folder("checkpoint");
    train::Checkpoint checkpoint;
    checkpoint.step = 70;
    checkpoint.epoch = 2;
    checkpoint.states = arrays;
    checkpoint.notes = {{"label_names", "cat dog"},
                        {"data", data::CursorText({2, 5, 99})}};
    const auto name = train::EpochCheckpoint(folder.File("net"), 2);
    (void)train::WriteCheckpoint(name, checkpoint);
    seeds.push_back(test::TextOf(name.Path("mxc")));
  }
  return seeds;
}

void SealCheckpoint(std::span<std::byte> input) {
  if (input.size() < sizeof(uint64_t)) return;
  const size_t end = input.size() - sizeof(uint64_t);
  Store(input, end, runtime::Checksum(input.first(end)));
}

}  // namespace

extern const Target checkpoint;
const Target checkpoint = {
    .run = RunCheckpoint,
    .seeds = CheckpointSeeds,
    .most_bytes = 1024,
    .words = {"mxc-checkpoint 1\n", "step ", "epoch ", "hash params ",
              "note label_names ", "arrays\n"},
    .seal = SealCheckpoint};

}  // namespace mxc::fuzz
