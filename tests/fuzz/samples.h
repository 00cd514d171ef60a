// SPDX-License-Identifier: Apache-2.0
// Sources of samples, as training reads them.
#pragma once

#include <string>

#include "runtime/data/iterator.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {

// Opens the source and reads some batches of every sample, on this thread.
void ReadSamples(const std::string& spec, const data::Settings& settings);

// The first byte of the input, which chooses among `count` ways to read the
// rest; 0 where there is none.
size_t TakeChoice(Bytes* input, size_t count);

}  // namespace mxc::fuzz
