// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/updater_states.h"

#include "tests/fuzz/arrays.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/pickles.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunUpdaterStates(Bytes input) {
  const auto states = runtime::ParseUpdaterStates(input);
  if (!states.ok()) return;
  for (const auto& entry : states->entries) {
    for (const runtime::Array& array : runtime::FlattenState(entry.value)) {
      Touch(array.bytes());
    }
  }
}

}  // namespace

extern const Target updater_states;
const Target updater_states = {.run = RunUpdaterStates,
                               .seeds = Pickles,
                               .most_bytes = 1024,
                               .words = PickleWords()};

}  // namespace mxc::fuzz
