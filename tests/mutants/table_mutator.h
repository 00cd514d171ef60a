// SPDX-License-Identifier: Apache-2.0
// Changes the tables of an artifact where it matters: one number of a field, a
// row twice, two rows in each other's place. What else follows from the change
// is made right, so that the change is all that a reader meets.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace mxc::test {

// `tables` are those of a good artifact. Returns them with one to three changes.
std::string MutatedTables(const std::string& tables, std::mt19937_64& random);

}  // namespace mxc::test
