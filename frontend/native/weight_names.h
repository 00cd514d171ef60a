// SPDX-License-Identifier: Apache-2.0
// The names that a network's parameters have in files of other programs, the
// key "weights" of our own JSON (frontend/native/README.md):
//
//   "weights": [{"prefix": "{,bert.}", "names": {
//     "layer${i}_inner_*": "encoder.layer.${i - 1}.intermediate.dense.*",
//     "layer${i}_norm_gamma": "encoder.layer.${i - 1}.norm.{weight,gamma}",
//     "layer${i}_qkv_weight": {"from": "h.${i - 1}.c_attn.weight",
//                              "transpose": true} } }]
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/json/json.h"
#include "frontend/native/weight_table.h"

namespace mxc {

class WeightNames {
 public:
  // Null where the document names no weights. The document may go.
  static Result<std::shared_ptr<const WeightNames>> Read(
      const JsonDocument& document);

  // The arrays of `file` under the names of the graph's parameters, as float32
  // where they have 16 bits; others keep theirs. Unchanged where the file has
  // at least as many parameters under the network's own names as any table
  // finds. What the table names and the file lacks is added to `notes`.
  Result<ParameterArrays> Apply(const Graph& graph,
                                const ParameterArrays& arrays,
                                const std::string& file,
                                Diagnostics& notes) const;

 private:
  std::vector<WeightTable> tables_;
};

}  // namespace mxc
