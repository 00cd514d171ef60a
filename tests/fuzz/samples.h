// SPDX-License-Identifier: Apache-2.0
// Sources of samples, as training reads them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {

// Opens the source and reads some batches of every sample, on this thread.
void ReadSamples(const std::string& spec, const data::Settings& settings);

// Reads the input as a file of the source ("csv:"), with the settings among
// `ways` that its first byte chooses.
void ReadSampleFile(const std::string& source,
                    std::span<const data::Settings> ways, Bytes input);

// Seeds for that: every file, to be read in each of so many ways.
std::vector<std::string> InEveryWay(std::span<const data::Settings> ways,
                                    const std::vector<std::string>& files);

// The first byte of the input, which chooses among `count` ways to read the
// rest; 0 where there is none.
size_t TakeChoice(Bytes* input, size_t count);

}  // namespace mxc::fuzz
