// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/kernel_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/program/steps/branch.h"
#include "ir/program/steps/call.h"
#include "ir/program/steps/collective.h"
#include "ir/program/steps/contraction.h"
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

using Visit = std::function<void(const Step&)>;

void VisitRows(const Step& step, const Visit& visit);

void VisitRows(const Program& program, const Visit& visit) {
  for (const Step& step : program.steps) VisitRows(step, visit);
}

// As the tables list them: those of a loop or a branch behind it.
void VisitRows(const Step& step, const Visit& visit) {
  visit(step);
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    VisitRows(*repeat->body, visit);
  } else if (const Branch* branch = step.body.As<Branch>()) {
    VisitRows(*branch->then, visit);
    VisitRows(*branch->otherwise, visit);
  } else if (const Start* start = step.body.As<Start>()) {
    Step begun = step;
    begun.body = start->body;
    VisitRows(begun, visit);
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
  VisitRows(program, [&](const Step& step) {
    if (!line.empty()) line += runtime::kBetweenKernels;
    line += KernelName(step, catalog);
  });
  return line;
}

bool ComputesContraction(const Step& step) {
  const auto any_of = [](const Program& inside) {
    return std::ranges::any_of(inside.steps, ComputesContraction);
  };
  if (const ContractionStep* c = step.contraction()) {
    return !c->choice.algorithm.empty();
  }
  if (const TileLoop* loop = step.loop()) return any_of(*loop->tile);
  const Launch* launch = step.body.As<Launch>();
  return launch != nullptr && any_of(*launch->inside);
}

std::string ContractionRows(const Program& program) {
  std::string line;
  int row = 0;
  VisitRows(program, [&](const Step& step) {
    if (ComputesContraction(step)) {
      line += fmt::format("{}{}", line.empty() ? "" : " ", row);
    }
    ++row;
  });
  return line;
}

}  // namespace mxc
