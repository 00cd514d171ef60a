// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/network_nodes.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace mxc::train {
namespace {

using Json = nlohmann::ordered_json;

// Throws what the library throws where the JSON has another form.
NetworkNode NodeOf(const Json& json, const Json& all) {
  NetworkNode node;
  node.name = json.at("name").get<std::string>();
  node.op = json.at("op").get<std::string>();
  if (node.op == "null") node.op = "Variable";
  for (const Json& input : json.at("inputs")) {
    const Json& from = all.at(input.at(0).get<size_t>());
    const auto output = input.at(1).get<int64_t>();
    node.inputs.push_back(from.at("name").get<std::string>() +
                          (output > 0 ? ":" + std::to_string(output) : ""));
  }
  return node;
}

}  // namespace

std::vector<NetworkNode> NodesOfSymbol(const std::string& json) {
  std::vector<NetworkNode> nodes;
  try {
    const Json symbol = Json::parse(json);
    const Json& all = symbol.at("nodes");
    for (const Json& node : all) nodes.push_back(NodeOf(node, all));
  } catch (const Json::exception&) {
    nodes.clear();
  }
  return nodes;
}

}  // namespace mxc::train
