// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <type_traits>

#include "ir/program/steps/repeat.h"
#include "ir/support/check.h"
#include "passes/limits.h"
#include "passes/pass.h"
#include "passes/passes.h"

namespace mxc {
namespace {

constexpr PassDescription kPasses[] = {
#define MXC_GRAPH_PASS(name, Function, required, prose) \
  {name, "graph", required, Where::kAny, prose},
#define MXC_LOWERING(name, Function, prose) \
  {name, "lower", true, Where::kAny, prose},
#define MXC_PROGRAM_PASS(name, Function, required, where, prose) \
  {name, "program", required, Where::where, prose},
#include "passes/passes.def"
#undef MXC_GRAPH_PASS
#undef MXC_LOWERING
#undef MXC_PROGRAM_PASS
};

bool Enabled(std::string_view name, bool required, const PassOptions& options) {
  if (required) return true;
  return options.level > 0 && !options.disabled.contains(std::string(name));
}

bool RunsFor(Where where, const PassContext& context) {
  if (where == Where::kAny) return true;
  const bool device =
      context.target != nullptr && !context.target->device.empty();
  return device == (where == Where::kDevice);
}

class Stopwatch {
 public:
  double seconds() const {
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    return elapsed.count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

void ReportPass(const PassOptions& options, std::string_view name, bool changed,
                double seconds, const Graph* graph, const Program* program) {
  if (!options.after_pass) return;
  options.after_pass({std::string(name), changed, seconds, graph, program});
}

// Runs a pass over the programs inside of the steps, then over the program.
Result<bool> RunInsideOut(Result<bool> (*pass)(Program&, PassContext&),
                          Program& program, PassContext& context) {
  bool changed = false;
  Diagnostics errors;
  for (Step& step : program.steps) {
    PassContext inside = context;
    inside.around = step.body.As<Repeat>();
    step.body.VisitPrograms([&](std::shared_ptr<const Program>& inner) {
      Program copy = *inner;
      const auto done = RunInsideOut(pass, copy, inside);
      if (!done.ok()) {
        errors = done.errors();
      } else if (*done) {
        changed = true;
        inner = std::make_shared<const Program>(std::move(copy));
      }
    });
  }
  if (!errors.empty()) return errors;
  MXC_ASSIGN(const bool outside, pass(program, context));
  return changed || outside;
}

Result<bool> RunInsideOut(Result<bool> (*pass)(Graph&, PassContext&),
                          Graph& graph, PassContext& context) {
  return pass(graph, context);
}

// Runs one pass over a Graph or a Program and distrusts it: what it leaves must
// verify, and it must have told the truth about having changed something.
template <class IR>
Status RunPass(std::string_view name, Result<bool> (*pass)(IR&, PassContext&),
               IR& ir, PassContext& context, const PassOptions& options) {
  const uint64_t before = options.check_changed ? Hash(ir) : 0;
  const Stopwatch watch;
  MXC_ASSIGN(const bool changed, RunInsideOut(pass, ir, context));
  const double seconds = watch.seconds();
  if (changed) {
    MXC_RETURN_IF_ERROR(RequireAddressable(ir));
    const auto broken = Verify(ir);
    MXC_CHECK(!broken, "after pass '{}': {}", name, *broken);
  }
  if (options.check_changed) {
    MXC_CHECK(changed == (Hash(ir) != before), "pass '{}' returned {}", name,
              changed);
  }
  if constexpr (std::is_same_v<IR, Graph>) {
    ReportPass(options, name, changed, seconds, &ir, nullptr);
  } else {
    ReportPass(options, name, changed, seconds, nullptr, &ir);
  }
  return Done{};
}

Result<Program> RunLowering(std::string_view name,
                            Result<Program> (*lowering)(const Graph&,
                                                        PassContext&),
                            const Graph& graph, PassContext& context,
                            const PassOptions& options) {
  const Stopwatch watch;
  MXC_ASSIGN(Program program, lowering(graph, context));
  const double seconds = watch.seconds();
  MXC_RETURN_IF_ERROR(RequireAddressable(program));
  const auto broken = Verify(program);
  MXC_CHECK(!broken, "after pass '{}': {}", name, *broken);
  ReportPass(options, name, true, seconds, nullptr, &program);
  return program;
}

Result<bool> LeaveAlone(Program&, PassContext&) { return false; }

// The passes behind the one that is named; all if none is.
Status RunProgramPasses(Program& program, PassContext& context,
                        const PassOptions& options,
                        std::string_view behind = {}) {
  bool runs = behind.empty();
#define MXC_GRAPH_PASS(name, Function, required, prose)
#define MXC_LOWERING(name, Function, prose)
#define MXC_PROGRAM_PASS(name, Function, required, where, prose)              \
  if (runs && Enabled(name, required, options)) {                             \
    const auto pass = RunsFor(Where::where, context) ? Function : LeaveAlone; \
    MXC_RETURN_IF_ERROR(RunPass(name, pass, program, context, options));      \
  }                                                                           \
  runs = runs || behind == name;
#include "passes/passes.def"
#undef MXC_GRAPH_PASS
#undef MXC_LOWERING
#undef MXC_PROGRAM_PASS
  return Done{};
}

}  // namespace

std::span<const PassDescription> AllPasses() { return kPasses; }

Result<bool> RunProgramPass(std::string_view name, Program& program,
                            PassContext& context) {
#define MXC_GRAPH_PASS(known, Function, required, prose)
#define MXC_LOWERING(known, Function, prose)
#define MXC_PROGRAM_PASS(known, Function, required, where, prose) \
  if (name == known) {                                            \
    if (!RunsFor(Where::where, context)) return false;            \
    return Function(program, context);                            \
  }
#include "passes/passes.def"
#undef MXC_GRAPH_PASS
#undef MXC_LOWERING
#undef MXC_PROGRAM_PASS
  MXC_CHECK(false, "no program pass is called '{}'", name);
}

Status RunGraphPasses(Graph& graph, PassContext context,
                      const PassOptions& options) {
#define MXC_GRAPH_PASS(name, Function, required, prose)                    \
  if (Enabled(name, required, options)) {                                  \
    MXC_RETURN_IF_ERROR(RunPass(name, Function, graph, context, options)); \
  }
#define MXC_LOWERING(name, Function, prose)
#define MXC_PROGRAM_PASS(name, Function, required, where, prose)
#include "passes/passes.def"
#undef MXC_GRAPH_PASS
#undef MXC_LOWERING
#undef MXC_PROGRAM_PASS
  return Done{};
}

Result<Program> LowerAndPlan(const Graph& graph, PassContext context,
                             const PassOptions& options) {
  Program program;
  context.lower_inside = [&context, &options](Graph inside) -> Result<Program> {
    PassOptions quiet = options;
    quiet.after_pass = nullptr;
    PassContext inner = context;
    inner.training = nullptr;
    MXC_RETURN_IF_ERROR(RunGraphPasses(inside, inner, quiet));
    return Lower(inside, inner);
  };
  context.plan_rest = [&options](Program planned,
                                 PassContext inner) -> Result<Program> {
    PassOptions quiet = options;
    quiet.after_pass = nullptr;
    inner.notes = nullptr;
    MXC_RETURN_IF_ERROR(RunProgramPasses(planned, inner, quiet, "recompute"));
    return planned;
  };
#define MXC_GRAPH_PASS(name, Function, required, prose)
#define MXC_LOWERING(name, Function, prose) \
  MXC_ASSIGN(program, RunLowering(name, Function, graph, context, options));
#define MXC_PROGRAM_PASS(name, Function, required, where, prose)
#include "passes/passes.def"
#undef MXC_GRAPH_PASS
#undef MXC_LOWERING
#undef MXC_PROGRAM_PASS
  MXC_RETURN_IF_ERROR(RunProgramPasses(program, context, options));
  MXC_RETURN_IF_ERROR(RequireStorable(program));
  return program;
}

Result<Program> RunPipeline(Graph graph, PassContext context,
                            const PassOptions& options) {
  MXC_CHECK(context.target != nullptr);
  MXC_RETURN_IF_ERROR(RunGraphPasses(graph, context, options));
  return LowerAndPlan(graph, context, options);
}

}  // namespace mxc
