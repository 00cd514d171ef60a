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
  std::string_view domain, name;
  int64_t first;
  Operation operation;
};

constexpr Row kRows[] = {
#define MXC_ONNX(name, first, rule) {"", #name, first, {&Import##rule}},
#define MXC_ONNX_EACH(name, first, rule) \
  {"", #name, first, {&Import##rule, -1, true}},
#define MXC_ONNX_MOVES(name, first, rule, input) \
  {"", #name, first, {&Import##rule, input}},
#define MXC_ONNX_IN(domain, name, rule) {domain, #name, 1, {&Import##rule}},
#include "frontend/onnx/operators.def"
#undef MXC_ONNX
#undef MXC_ONNX_EACH
#undef MXC_ONNX_MOVES
#undef MXC_ONNX_IN
};

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, std::vector<const Row*>>& Rows() {
  static const auto* rows = [] {
    auto* made = new std::map<Key, std::vector<const Row*>>;
    for (const Row& row : kRows)
      (*made)[{row.domain, row.name}].push_back(&row);
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
  for (const Row* row : found->second) {
    if (row->first <= opset) operation = row->operation;
  }
  return operation;
}

bool IsKnown(std::string_view domain, std::string_view name) {
  return Rows().contains({domain, name});
}

}  // namespace mxc::onnx
