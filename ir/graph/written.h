// SPDX-License-Identifier: Apache-2.0
// Keeps what a network's file says beyond what the graph means, for whoever
// writes the network again. Front ends alone name the members; other rooms ask
// by the functions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/fields.h"

namespace mxc {

struct WrittenNode {
  std::vector<AttrText> attributes;  // as they came
  std::string subgraphs;             // JSON text of nested graphs, if any
  // Attributes of the form __name__, with their underscores.
  std::map<std::string, std::string> annotations;

  // Null where the file says none.
  const std::string* Attribute(std::string_view name) const;
  const std::string* Annotation(const std::string& name) const;
  // As if the file said so. An empty annotation is none.
  void SetAttribute(const std::string& name, const std::string& text);
  void Annotate(const std::string& name, const std::string& text);
};

struct WrittenGraph {
  int64_t version = 0;        // MXNet's: 10901; 0 where the file names none
  bool numpy_shapes = false;  // 0 is an extent, -1 the unknown one
  // Inputs that no variable stands for, since they have no elements.
  std::set<std::string> empty_inputs;
};

// Gives the attribute of that name another text, or adds it at the end.
void SetText(const std::string& name, const std::string& text,
             std::vector<AttrText>& attrs);

}  // namespace mxc
