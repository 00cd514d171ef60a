// SPDX-License-Identifier: Apache-2.0
// Damage that a seed decides, where there is no libFuzzer.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "tests/fuzz/target.h"

namespace mxc::fuzz {

// Bytes: cut, repeated, erased, overwritten, words put in between; sealed again
// where the target can.
std::string DamagedBytes(const Target& target, std::string file,
                         std::mt19937& random);

// Values of a JSON document: removed, repeated, replaced by extreme ones or by
// others of the document. What is no JSON is damaged as bytes.
std::string DamagedJson(const std::string& text, std::mt19937& random);

}  // namespace mxc::fuzz
