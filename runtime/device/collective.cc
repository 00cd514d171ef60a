// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/collective.h"

#include <string>

#include "runtime/device/collectives/declarations.h"

namespace mxc::runtime {
namespace {

using Row = std::pair<std::string, CollectiveFunction>;

std::vector<Row>& Rows() {
  static std::vector<Row> rows = {
#define MXC_COLLECTIVE(name, Function, gives, adds) {#name, &Function},
#include "runtime/abi/collectives.def"
  };
  return rows;
}

}  // namespace

CollectiveFunction FindCollectiveFunction(std::string_view name) {
  for (const auto& [known, function] : Rows()) {
    if (known == name) return function;
  }
  return nullptr;
}

void AddCollective(const CollectiveFacts& facts, CollectiveFunction function) {
  Collectives().push_back(facts);
  Rows().emplace_back(facts.name, function);
}

void LoneMember::Send(const void* from, uint64_t bytes, size_t) {
  sent_.emplace_back(from, bytes);
  Deliver();
}

void LoneMember::Receive(void* to, uint64_t, size_t) {
  wanted_.push_back(to);
  Deliver();
}

// What was sent and is wanted, in order.
void LoneMember::Deliver() {
  if (sent_.empty() || wanted_.empty()) return;
  const auto [from, bytes] = sent_.front();
  copy_(wanted_.front(), from, bytes);
  sent_.erase(sent_.begin());
  wanted_.erase(wanted_.begin());
}

}  // namespace mxc::runtime
