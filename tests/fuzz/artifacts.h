// SPDX-License-Identifier: Apache-2.0
// Artifacts as seeds, around code that is nothing but an ELF header.
#pragma once

#include <string>
#include <vector>

namespace mxc::fuzz {

// Tables of networks that run, train and prepare weights.
std::vector<std::string> TablesOfArtifacts();

std::string ArtifactOf(const std::string& tables);

constexpr const char* kManifest =
    "network: lenet\noptimizer: sgd momentum=0.9 wd=0.0001\n"
    "optimizer_state: (mean, var)\nlearning_rate: 0.01\ndata: data\n"
    "label: softmax_label\ncarry: out state\nparameter: fc_weight\n"
    "parameter: fc_bias\nauxiliary: bn_mean\nlabel_names: cat a\\x20dog\n";

}  // namespace mxc::fuzz
