// SPDX-License-Identifier: Apache-2.0
// The folder that `mxc compile --emit web` writes.
#pragma once

#include <string>
#include <vector>

#include "codegen/web/web_module.h"
#include "ir/support/result.h"
#include "tools/driver/plan.h"

namespace mxc {

struct PageFile {
  std::string name;  // within the folder
  std::string bytes;
};

// NAME.wasm, NAME.team.wasm, NAME.weights, NAME.mjs, worker.mjs, index.html and, for
// networks that read pictures of 28 x 28, digits.mjs; NAME is the network's file's.
std::vector<PageFile> PageFiles(const WebModule& module, const Plan& plan);

}  // namespace mxc
