// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/operators.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mxc::onnx {

#define MXC_ONNX(name, first, rule) void Import##rule(Call&);
#define MXC_ONNX_EACH(name, first, rule) void Import##rule(Call&);
#define MXC_ONNX_MOVES(name, first, rule, input) void Import##rule(Call&);
#define MXC_ONNX_IN(domain, name, rule) void Import##rule(Call&);
#include "frontend/onnx/operators.def"
#undef MXC_ONNX
#undef MXC_ONNX_EACH
#undef MXC_ONNX_MOVES
#undef MXC_ONNX_IN

namespace {

struct Row {
  int64_t first;
  Operation operation;
};
using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, std::vector<Row>>& Rows() {
  static const auto* rows = [] {
    auto* made = new std::map<Key, std::vector<Row>>;
#define MXC_ONNX(name, first, rule) \
  (*made)[{"", #name}].push_back({first, {&Import##rule}});
#define MXC_ONNX_EACH(name, first, rule) \
  (*made)[{"", #name}].push_back({first, {&Import##rule, -1, true}});
#define MXC_ONNX_MOVES(name, first, rule, input) \
  (*made)[{"", #name}].push_back({first, {&Import##rule, input}});
#define MXC_ONNX_IN(domain, name, rule) \
  (*made)[{domain, #name}].push_back({1, {&Import##rule}});
#include "frontend/onnx/operators.def"
#undef MXC_ONNX
#undef MXC_ONNX_EACH
#undef MXC_ONNX_MOVES
#undef MXC_ONNX_IN
    return made;
  }();
  return *rows;
}

}  // namespace

Operation FindOperation(std::string_view domain, std::string_view name,
                        int64_t opset) {
  const auto found = Rows().find({domain, name});
  if (found == Rows().end()) return {};
  Operation operation;
  for (const Row& row : found->second) {
    if (row.first <= opset) operation = row.operation;
  }
  return operation;
}

bool IsKnown(std::string_view domain, std::string_view name) {
  return Rows().contains({domain, name});
}

}  // namespace mxc::onnx
