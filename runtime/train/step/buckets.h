// SPDX-License-Identifier: Apache-2.0
// The gradients that travel together where workers sum them among themselves.
// Many small sums would each wait for every worker; one sum of all could not
// begin before the last gradient is final.
#pragma once

#include <string>
#include <vector>

#include "runtime/artifact/communication.h"
#include "runtime/executor/model.h"

namespace mxc::train {

// States whose gradients become final one after the other, by their rows in the
// tables.
struct Bucket {
  std::vector<uint32_t> states;
  // Behind the gradient of a table of which a step uses some rows there is one
  // for each row: other than 0 if anybody has used it.
  uint64_t elements = 0;
};

// Compiled: a function of the artifact alone, in the order of the sums. Entries
// GRAD of other lengths than the first have the same.
std::vector<Bucket> BucketsOf(const runtime::Model& model);

// Equal for equal buckets, to be read in a message.
std::string TextOf(const std::vector<Bucket>& buckets);

}  // namespace mxc::train
