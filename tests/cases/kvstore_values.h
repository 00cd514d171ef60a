// SPDX-License-Identifier: Apache-2.0
// What one worker of a job of MXNet's saw.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mxc {

using WorkerArrays = std::map<std::string, std::vector<float>>;

// The arrays of an .npz file; throws a run::Failure.
WorkerArrays ReadWorker(const std::string& path);

// Where the values are not the expected ones, to 1e-6 (of the value, where that
// is above 1); else nothing.
std::string DifferenceOf(const std::vector<float>& got,
                         const std::vector<float>& want);

}  // namespace mxc
