// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/kernel_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ir/program/steps/call.h"
#include "ir/program/steps/copy.h"
#include "ir/program/steps/launch.h"
#include "ir/program/steps/start.h"
#include "ir/program/steps/wait.h"
#include "tools/driver/figures.h"

namespace mxc {
namespace {

constexpr std::string_view kBetween = "; ";

}  // namespace

std::string KernelName(const Step& step) {
  if (step.view) return "view";
  if (step.body.As<Copy>()) return "copy";
  if (step.body.As<Start>()) return "start";
  if (step.body.As<Wait>()) return "wait";
  if (const Call* call = step.body.As<Call>()) return call->function;
  if (const Launch* launch = step.body.As<Launch>()) {
    return Count(std::ssize(launch->inside->steps), "step") + " at once";
  }
  if (const TileLoop* loop = step.loop()) {
    return fmt::format("{} in tiles",
                       Count(std::ssize(loop->tile->steps), "step"));
  }
  if (const ContractionStep* c = step.contraction()) {
    if (c->choice.algorithm.empty()) return "contraction loops";
    if (c->choice.warp_rows > 0) return c->choice.Name();
    return fmt::format("{} {}c", c->choice.algorithm, c->choice.block);
  }
  return "loops";
}

std::string KernelNames(const Program& program) {
  std::string line;
  for (const Step& step : program.steps) {
    if (!line.empty()) line += kBetween;
    line += KernelName(step);
  }
  return line;
}

std::vector<std::string> ParseKernelNames(const std::string& line) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(kBetween, begin), line.size());
    names.push_back(line.substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  return names;
}

}  // namespace mxc
