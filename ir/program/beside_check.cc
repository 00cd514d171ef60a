// SPDX-License-Identifier: Apache-2.0
#include "ir/program/beside_check.h"

#include <fmt/format.h>

#include "ir/program/steps/start.h"
#include "ir/program/steps/wait.h"

namespace mxc {

std::optional<std::string> BesideCheck::Check(const Step& step) {
  if (step.body.As<Wait>() != nullptr) return End(step);
  if (auto error = CheckUses(step)) return error;
  if (step.body.As<Start>() == nullptr) return std::nullopt;
  for (const int b : step.inputs) read_.insert(program_.Root(b));
  for (const int b : step.outputs) written_.insert(program_.Root(b));
  const bool first = starts_.emplace(step.operands(), &step).second;
  return first ? std::nullopt
               : std::optional<std::string>("the same is started twice");
}

std::optional<std::string> BesideCheck::CheckUses(const Step& step) const {
  if (starts_.empty()) return std::nullopt;
  for (const int b : step.inputs) {
    if (!written_.contains(program_.Root(b))) continue;
    return fmt::format("buffer {} is read before the wait for it", b);
  }
  for (const int b : step.outputs) {
    const int root = program_.Root(b);
    if (!written_.contains(root) && !read_.contains(root)) continue;
    return fmt::format("buffer {} is written beside its use", b);
  }
  return std::nullopt;
}

std::optional<std::string> BesideCheck::End(const Step& wait) {
  const auto found = starts_.find(wait.inputs);
  if (found == starts_.end() ||
      found->second->outputs.size() != wait.outputs.size()) {
    return "a wait for what was not started";
  }
  const Step& start = *found->second;
  for (const int b : start.inputs) read_.erase(read_.find(program_.Root(b)));
  for (const int b : start.outputs) {
    written_.erase(written_.find(program_.Root(b)));
  }
  starts_.erase(found);
  return std::nullopt;
}

std::optional<std::string> BesideCheck::Finish() const {
  if (starts_.empty()) return std::nullopt;
  return fmt::format("nobody waits for step '{}'",
                     starts_.begin()->second->name);
}

}  // namespace mxc
