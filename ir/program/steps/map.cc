// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/program/box_values.h"
#include "ir/program/flops.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/program/scatter_sum.h"
#include "ir/program/verify.h"

namespace mxc {
namespace {

Store ReadStore(ProgramReader& reader) {
  Store store;
  store.output = static_cast<int>(reader.lex().Integer());
  store.begin = reader.List();
  reader.lex().Expect("+");
  store.extent = reader.List();
  reader.lex().Expect("=");
  store.value = reader.Value();
  return store;
}

double Operations(const Store& store) {
  Extents extent = store.extent;
  // Each value is added once, wherever it belongs.
  if (const auto sum = MatchScatterSum(store, Shape(store.extent))) {
    extent[static_cast<size_t>(sum->axis)] = 1;
  }
  return OperationsOf(store.value, extent);
}

}  // namespace

std::string Map::Print() const {
  std::string out;
  for (const Store& store : stores) {
    out += fmt::format("    store {} ({}) + ({}) = {}\n", store.output,
                       fmt::join(store.begin, ", "),
                       fmt::join(store.extent, ", "), mxc::Print(store.value));
  }
  return out;
}

StepBody ReadMap(ProgramReader& reader) {
  Map map;
  while (reader.lex().Accept("store")) map.stores.push_back(ReadStore(reader));
  return map;
}

std::optional<std::string> Map::Verify(const Program& program,
                                       const Step& step) const {
  std::vector<int64_t> covered(step.outputs.size(), 0);
  for (const Store& store : stores) {
    if (store.output < 0 ||
        store.output >= static_cast<int>(step.outputs.size())) {
      return fmt::format("stores output {}", store.output);
    }
    const TensorType& type = program.buffers[step.outputs[store.output]].type;
    const size_t rank = type.shape.dims().size();
    if (store.begin.size() != rank || store.extent.size() != rank) {
      return fmt::format("a box of another rank than {}", ToString(type));
    }
    int64_t volume = 1;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (store.begin[axis] < 0 || store.extent[axis] < 1 ||
          store.begin[axis] + store.extent[axis] >
              type.shape[static_cast<int>(axis)]) {
        return fmt::format("a box outside of {}", ToString(type));
      }
      volume *= store.extent[axis];
    }
    covered[store.output] += volume;
    if (store.value->dtype != type.dtype) {
      return fmt::format("stores {} into {}", ShortName(store.value->dtype),
                         ToString(type));
    }
    if (auto error = VerifyExpr(program, step, store.value, rank)) return error;
  }
  for (size_t i = 0; i < covered.size(); ++i) {
    const TensorType& type = program.buffers[step.outputs[i]].type;
    if (covered[i] != type.shape.elements()) {
      return fmt::format("stores {} of the {} elements of output {}",
                         covered[i], type.shape.elements(), i);
    }
  }
  return std::nullopt;
}

void Map::Interpret(StepValues& values) const {
  BoxValues box(values);
  for (const Store& store : stores) {
    const int output = values.step.outputs[store.output];
    box.Compute(store, values.program.buffers[output].type.shape.dims(),
                values.outputs[store.output]);
  }
}

std::string Map::Key(const Program&, const Step&, const ExprText& text) const {
  std::string key;
  for (const Store& store : stores) {
    key += fmt::format("|store {} [{}][{}] {}", store.output,
                       fmt::join(store.begin, ","),
                       fmt::join(store.extent, ","), text(store.value));
  }
  return key;
}

double Map::Flops(const Program&, const Step&) const {
  double total = 0;
  for (const Store& store : stores) total += Operations(store);
  return total;
}

void Map::VisitExprs(const std::function<void(Expr&)>& f) {
  for (Store& store : stores) f(store.value);
}

}  // namespace mxc
