// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/kernel_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "ir/program/steps/branch.h"
#include "ir/program/steps/call.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/collective.h"
#include "ir/program/steps/copy.h"
#include "ir/program/steps/launch.h"
#include "ir/program/steps/repeat.h"
#include "ir/program/steps/start.h"
#include "ir/program/steps/tile_loop.h"
#include "ir/program/steps/wait.h"
#include "runtime/artifact/manifest.h"
#include "tools/driver/figures.h"

namespace mxc {
namespace {

// As the tables list them: those of a loop or a branch behind it.
void AddNames(const Step& step, const KernelCatalog& catalog,
              std::string& line) {
  if (!line.empty()) line += runtime::kBetweenKernels;
  line += KernelName(step, catalog);
  const auto add_all = [&](const std::shared_ptr<const Program>& inside) {
    for (const Step& inner : inside->steps) AddNames(inner, catalog, line);
  };
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    add_all(repeat->body);
  } else if (const Branch* branch = step.body.As<Branch>()) {
    add_all(branch->then);
    add_all(branch->otherwise);
  } else if (const Start* start = step.body.As<Start>()) {
    Step begun = step;
    begun.body = start->body;
    AddNames(begun, catalog, line);
  }
}

}  // namespace

std::string KernelName(const Step& step, const KernelCatalog& catalog) {
  if (step.view) return "view";
  if (step.body.As<Copy>()) return "copy";
  if (step.body.As<Start>()) return "start";
  if (step.body.As<Wait>()) return "wait";
  if (const Call* call = step.body.As<Call>()) return call->function;
  if (const auto* c = step.body.As<Collective>()) return c->operation;
  if (step.body.As<Branch>()) return "branch";
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    return Count(repeat->turns, "turn") + " of " +
           Count(std::ssize(repeat->body->steps), "step");
  }
  if (const Launch* launch = step.body.As<Launch>()) {
    return Count(std::ssize(launch->inside->steps), "step") + " at once";
  }
  if (const TileLoop* loop = step.loop()) {
    return fmt::format("{} in tiles",
                       Count(std::ssize(loop->tile->steps), "step"));
  }
  if (const ContractionStep* c = step.contraction()) {
    if (c->choice.algorithm.empty()) return "contraction loops";
    return catalog.Describe(c->choice);
  }
  return "loops";
}

std::string KernelNames(const Program& program, const KernelCatalog& catalog) {
  std::string line;
  for (const Step& step : program.steps) AddNames(step, catalog, line);
  return line;
}

}  // namespace mxc
