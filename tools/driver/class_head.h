// SPDX-License-Identifier: Apache-2.0
// The layers by whose width a network tells classes apart, and how they get
// another one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

struct ClassHead {
  struct Layer {
    std::string node, attribute;  // "fc1", "num_hidden"
  };
  // Several where the network has several losses over the same classes, or one
  // of the sum of several layers.
  std::vector<Layer> layers;
  int64_t classes = 0;  // that the network tells apart
  // Parameters and states of these layers and of what follows them.
  std::set<std::string> parameters;

  std::string Names() const;  // "'fc1'", "'fc1' and 'fc2'"
};

// Walks back from every loss over classes, or, where there is none, from the
// network's only output, to the nearest layers that have as many outputs as it
// has classes. Types must have been inferred, as far as they follow. Where there
// is no such layer, the error says why.
Result<ClassHead> FindClassHead(const Graph& graph);

// Gives the layers `classes` outputs. The types of operators are unknown then.
Status SetClasses(const ClassHead& head, int64_t classes, Graph& graph);

// Refuses a graph, of which SetClasses was asked and whose types have been
// inferred since, that tells another number of classes apart: something behind
// the layers says how many there are.
Status RequireClasses(const ClassHead& head, int64_t classes,
                      const Graph& graph);

}  // namespace mxc
