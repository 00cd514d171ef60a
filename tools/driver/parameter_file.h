// SPDX-License-Identifier: Apache-2.0
// Which parameters a network gets, of which run, and what the checkpoint that
// they belong to knows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/train/checkpoint.h"

namespace mxc {

struct ParameterFile {
  std::string path;          // empty: there is none
  std::optional<int> epoch;  // NNNN, where it was found beside the network
  std::vector<int> epochs;   // of all files beside the network, ascending
  train::Provenance provenance;
  std::vector<std::string> warnings;
};

// The file that `params` or `epoch` names, else the newest one beside `model`.
// Refuses that where the files are of several runs, or it is not the one that
// was saved.
Result<ParameterFile> ChooseParameters(const std::string& model,
                                       const std::string& params,
                                       std::optional<int> epoch);

// "net-0003.params, the newest of epochs 1, 2, 3"
std::string Describe(const ParameterFile& file);

// The shapes that training gave to inputs. Empty where the parameters are of no
// checkpoint that knows.
std::map<std::string, std::vector<int64_t>> ShapesOfTraining(
    const ParameterFile& file);

}  // namespace mxc
