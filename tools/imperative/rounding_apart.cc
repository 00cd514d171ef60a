// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/rounding_apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ir/graph/copy.h"
#include "ir/program/program.h"
#include "ir/program/steps/map.h"
#include "passes/passes.h"

namespace mxc {
namespace {

constexpr char kMark = '\n';  // in no name

// The call that the step is of; empty: of none, or of several.
std::string_view CallOf(const Step& step) {
  if (step.origins.size() != 1) return {};
  const std::string_view origin = step.origins[0];
  const size_t end = origin.find(kMark);
  return end == origin.npos ? std::string_view() : origin.substr(0, end);
}

bool IsProduct(const Expr& e) {
  if (e->kind == ExprKind::kUnary) return IsProduct(e->args[0]);
  return e->kind == ExprKind::kBinary && e->binary == BinaryOp::kMul;
}

// The operands that a sum adds as they are read.
void VisitAddends(const Expr& e, const std::function<void(int)>& visit) {
  const bool adds = e->kind == ExprKind::kReduce && e->reduce == ReduceOp::kSum;
  for (const Expr& arg : e->args) {
    if (adds && arg->kind == ExprKind::kLoad) visit(arg->index);
    VisitAddends(arg, visit);
  }
}

// Values that are the same in each run, by buffer, with the call that they come
// from: the compiler computes what is made of them.
class Constants {
 public:
  explicit Constants(const Program& program) : program_(program) {}

  // Returns whether the compiler would compute, rather than move, what one call
  // makes of what others have left.
  bool AreComputedAcross(const Step& step, std::string_view call) {
    bool all = true, across = false;
    for (const int input : step.inputs) {
      if (IsOfCompiler(input)) continue;
      const auto found = call_of_.find(input);
      all &= found != call_of_.end();
      across |= found != call_of_.end() && found->second != call;
    }
    if (!all) return false;
    for (const int output : step.outputs) call_of_.emplace(output, call);
    return across && !OnlyMoves(step);
  }

 private:
  bool IsOfCompiler(int buffer) const {
    return program_.buffers[buffer].kind == BufferKind::kConstant;
  }
  static bool OnlyMoves(const Step& step) {
    const Map* const map = step.map();
    return map != nullptr &&
           std::ranges::all_of(map->stores, [](const Store& store) {
             return store.value->kind == ExprKind::kLoad ||
                    store.value->kind == ExprKind::kConst;
           });
  }

  const Program& program_;
  std::unordered_map<int, std::string_view> call_of_;
};

}  // namespace

std::string OriginInCall(size_t call, const std::string& node) {
  return fmt::format("{}{}{}", call, kMark, node);
}

Status RequireRoundingApart(const Graph& graph, const Target& target) {
  PassContext context;
  context.target = &target;
  PassOptions required;
  required.level = 0;
  MXC_ASSIGN(const Program program,
             RunPipeline(CopyOf(graph), context, required));
  std::unordered_map<int, std::string_view> product_of;  // by buffer
  Constants constants(program);
  for (const Step& step : program.steps) {
    const std::string_view call = CallOf(step);
    if (constants.AreComputedAcross(step, call)) {
      return Error({},
                   "a call computes from others' constants alone, which the "
                   "compiler would do once with other rounding");
    }
    const Map* const map = step.map();
    if (map == nullptr) continue;
    bool is_apart = true;
    for (const Store& store : map->stores) {
      VisitAddends(store.value, [&](int operand) {
        const auto found =
            product_of.find(step.inputs[static_cast<size_t>(operand)]);
        if (found != product_of.end() && found->second != call) {
          is_apart = false;
        }
      });
      if (IsProduct(store.value)) {
        product_of[step.outputs[static_cast<size_t>(store.output)]] = call;
      }
    }
    if (!is_apart) {
      return Error({},
                   "a call sums what another multiplies, and one program would "
                   "round once where they round twice");
    }
  }
  return Done{};
}

}  // namespace mxc
