// SPDX-License-Identifier: Apache-2.0
// Decides which preprocessing of pictures an artifact states.
#pragma once

#include <string>

#include "ir/support/result.h"
#include "tools/driver/plan.h"

namespace mxc {

// What an artifact of the plan says is done to pictures
// (runtime/data/preprocessing.h): plan.preprocessing, changed as `said` has it in
// the same words. Of a network of which nothing is known pictures are stretched
// to its first input. Refuses words that make no sense and, where nothing is
// known, networks that take no pictures.
Result<std::string> KeptPreprocessing(const Plan& plan,
                                      const std::string& said);

}  // namespace mxc
