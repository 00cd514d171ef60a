// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/pickle.h"

#include "tests/fuzz/pickles.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunPickle(Bytes input) {
  const auto pickle = runtime::ReadPickle(input);
  if (!pickle.ok()) return;
  if (pickle->root >= pickle->values.size()) Wrong("no such root");
  for (const runtime::PickleValue& value : pickle->values) {
    Touch(BytesOf(value.text));
    for (const uint32_t item : value.items) {
      if (item >= pickle->values.size()) Wrong("no such item");
    }
  }
}

}  // namespace

extern const Target pickle;
const Target pickle = {.run = RunPickle,
                       .seeds = Pickles,
                       .most_bytes = 512,
                       .words = PickleWords()};

}  // namespace mxc::fuzz
