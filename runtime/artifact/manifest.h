// SPDX-License-Identifier: Apache-2.0
// The manifest of an artifact: lines "key: value"; a key may come several
// times. What tensors are for, programs read in the tables (mxc_tensor_role); here
// it stands for people. The lines of an artifact that trains:
//   optimizer        sgd momentum=0.9 wd=0.0001
//   optimizer_state  what it keeps for a parameter: "momentum", "(mean, var)"
//   copied_state     the same under multi_precision: "(momentum, weight_f32)"
//   learning_rate    0.01, where nobody says otherwise
//   label_smoothing  0.1, where training was told to smooth labels
//   precision        bfloat16 or float16, of what is kept from layer to layer;
//                    float32 if it is not there
//   replicas         how many devices train together; 1 if it is not there
//   stage            of a pipeline's program: which stage, of how many, and a
//                    number for how they are cut: "0 2 3f…"
//   data, label      an input that the data source fills
//   carry            an output and the input that it is in the next run
//   parameter        a state that is trained, in the order of MXNet's update
//                    indices
//   auxiliary        a state that the network itself computes
// Of any whose network has loss heads:
//   classes          of a label input whose values are the numbers of classes:
//                    how many there are, the label that stands for none or
//                    "none", the input: "10 none softmax_label"
//   head             what the output of a loss head and its label hold, in the
//                    form of runtime/train/head.h
// Of any whose products have weights of fewer bits than their parameters:
//   weights          bf16, int8 or int4:GROUP, so many inputs of an output to a
//                    scale
//   kept_weight      a parameter, or a pattern of several, that has all its bits
// Of any that writes texts token by token:
//   rows_kept        how many tokens a text may have
// Of each entry, after its line `entry`:
//   input, output    name and type
//   peak_bytes, activation_bytes, workspace_bytes
//                    what a run needs: as inspect --memory says
//   kernels          by which algorithm each step is computed, in order
//   contractions     the numbers of the steps that compute contractions
// Of any that knows:
//   golden           what an entry computes (tools/driver/golden.h), one for
//                    each entry
//   sha256_code, sha256_weights, sha256_tables, sha256_symbol: digests of the
//                    other sections
//   preprocess       what is done to samples before the network sees them, in
//                    the form of runtime/data/preprocessing.h
//   label_names      what the labels' numbers stand for, in the form of
//                    runtime/data/label_names.h
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mxc::runtime {

// Every value of the key, in order.
std::vector<std::string> ManifestValues(std::string_view manifest,
                                        std::string_view key);

// Between the algorithms in a line `kernels`.
inline constexpr std::string_view kBetweenKernels = "; ";

// Those of a line `kernels`, one for each step of its entry; empty where the
// line has not so many: a file may say anything.
std::vector<std::string> KernelsOf(std::string_view line, size_t steps);

// The numbers of rows in a line `contractions`: by step of the entry, whether it
// is named.
std::vector<bool> RowsOf(std::string_view line, size_t steps);

}  // namespace mxc::runtime
