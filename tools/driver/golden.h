// SPDX-License-Identifier: Apache-2.0
// The golden digests of an artifact: SHA-256 of what each of its entries
// computes from inputs that follow from a seed. Whoever opens the artifact
// later, elsewhere, on any number of threads, computes the same bytes, or
// something is wrong with the file, the machine or its memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/executor/model.h"

namespace mxc {

// One line for each entry: a digest in hexadecimal digits, or "none" and why
// nothing was computed, which depends on the entry alone. Runs the model's
// code. States are not touched: each entry runs with its own, as the file has
// them.
Result<std::vector<std::string>> GoldenLines(
    const std::shared_ptr<const runtime::Model>& model);

}  // namespace mxc
