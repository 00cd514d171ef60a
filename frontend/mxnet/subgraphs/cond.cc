// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "frontend/mxnet/subgraphs/expansion.h"

namespace mxc {

Status ExpandCond(Expansion& expansion) {
  MXC_ASSIGN(const std::vector<Subgraph> subgraphs,
             ReadSubgraphs(expansion.node(), expansion.graph(), 3));
  const char* const locs[] = {"cond_input_locs", "then_input_locs",
                              "else_input_locs"};
  const char* const names[] = {"condition/", "then/", "else/"};
  std::vector<std::vector<Value>> results;
  for (int i = 0; i < 3; ++i) {
    MXC_ASSIGN(const std::vector<Value> values,
               expansion.Pick(expansion.inputs(), locs[i],
                              subgraphs[i].variables.size()));
    results.push_back(expansion.Copy(subgraphs[i], values, names[i]));
  }
  if (results[0].size() != 1 || results[1].empty() ||
      results[1].size() != results[2].size()) {
    return expansion.Fail("the branches have different outputs");
  }
  std::vector<Value> values = results[0];
  values.insert(values.end(), results[1].begin(), results[1].end());
  values.insert(values.end(), results[2].begin(), results[2].end());
  const std::string count = std::to_string(values.size());
  return expansion.Replace(expansion.Add("_choose", std::move(values),
                                         {{"num_args", count}}, "choice"));
}

}  // namespace mxc
