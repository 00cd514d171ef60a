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
#include <optional>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/json/json.h"
#include "frontend/native/expression.h"

namespace mxc {

class WeightNames {
 public:
  // Null where the document names no weights. It must outlive none of this.
  static Result<std::shared_ptr<const WeightNames>> Read(
      const JsonDocument& document);

  // The arrays of `file` under the names of the graph's parameters, as float32
  // where they have 16 bits; others keep theirs. Unchanged where the file has
  // any parameter under the network's own name, or none of these tables'. What
  // the tables name and the file lacks is added to `notes`.
  Result<ParameterArrays> Apply(const Graph& graph,
                                const ParameterArrays& arrays,
                                const std::string& file,
                                Diagnostics& notes) const;

  // How one parameter, or many of one pattern, are made.
  struct Row {
    std::string pattern;  // a parameter's name: ${i} is a number, * the rest
    // Joined along the first axis; of each the names that it may have.
    std::vector<std::vector<std::string>> from;
    bool transpose = false;                           // each of them
    std::optional<std::pair<int64_t, int64_t>> rows;  // of what they make
    SourceLoc loc;
  };
  struct Table {
    std::vector<Row> rows;
  };

 private:
  std::vector<Table> tables_;
};

}  // namespace mxc
