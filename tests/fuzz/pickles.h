// SPDX-License-Identifier: Apache-2.0
// Pickles as seeds: what we write, and what Python writes in other protocols.
#pragma once

#include <string>
#include <vector>

namespace mxc::fuzz {

std::vector<std::string> Pickles();
std::vector<std::string> PickleWords();

}  // namespace mxc::fuzz
