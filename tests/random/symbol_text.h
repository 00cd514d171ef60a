// SPDX-License-Identifier: Apache-2.0
// A network in MXNet's symbol JSON, node by node.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/fields.h"

namespace mxc::random {

// An output of a node.
struct Port {
  int node = 0, output = 0;
};

class SymbolText {
 public:
  Port Variable(const std::string& name) {
    variables_.push_back(static_cast<int>(nodes_.size()));
    return Node("null", name, {}, {});
  }
  Port Node(const std::string& op, const std::string& name,
            const std::vector<AttrText>& attrs,
            const std::vector<Port>& inputs) {
    nlohmann::json node = {
        {"op", op}, {"name", name}, {"inputs", Rows(inputs)}};
    for (const auto& [key, value] : attrs) node["attrs"][key] = value;
    nodes_.push_back(std::move(node));
    return {static_cast<int>(nodes_.size()) - 1, 0};
  }
  std::string Text(const std::vector<Port>& outputs) const {
    const nlohmann::json text = {
        {"nodes", nodes_},
        {"arg_nodes", variables_},
        {"heads", Rows(outputs)},
        {"attrs", {{"mxnet_version", {"int", 10901}}}}};
    return text.dump(1);
  }

 private:
  static nlohmann::json Rows(const std::vector<Port>& ports) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Port& port : ports) rows.push_back({port.node, port.output, 0});
    return rows;
  }

  std::vector<nlohmann::json> nodes_;
  std::vector<int> variables_;
};

}  // namespace mxc::random
