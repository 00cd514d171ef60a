// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/scheduler.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "runtime/train/schedulers/declarations.h"

namespace mxc::train {
namespace {

struct SchedulerEntry {
  std::string_view name;
  std::unique_ptr<Scheduler> (*make)(ArgumentReader& arguments);
};

constexpr SchedulerEntry kSchedulers[] = {
#define MXC_SCHEDULER(name) {#name, MakeScheduler_##name},
#include "runtime/train/schedulers.def"
#undef MXC_SCHEDULER
};

// Arguments that follow from how long the run is.
Status TakeLength(const RunLength& length, Specification& specification) {
  std::vector<Argument>& arguments = specification.arguments;
  const auto of_key = [&](std::string_view key) {
    return std::ranges::find(arguments, key, &Argument::key);
  };
  static constexpr std::string_view kOfLength[] = {"poly", "cosine",
                                                   "onecycle"};
  if (std::ranges::count(kOfLength, specification.name) > 0 &&
      of_key("max_update") == arguments.end()) {
    arguments.push_back({"max_update", std::to_string(length.updates)});
  }
  const auto epochs = of_key("warmup_epochs");
  if (epochs == arguments.end()) return {};
  double count = 0;
  if (!ParseNumber(epochs->value, count) || !(count >= 0 && count < 1e9)) {
    return Fail(StatusCode::kInvalidArgument,
                "schedule: warmup_epochs is '%s', expected a number from 0",
                epochs->value.c_str());
  }
  if (of_key("warmup_steps") != arguments.end()) {
    return Fail(StatusCode::kInvalidArgument,
                "schedule: warmup_steps and warmup_epochs say the same");
  }
  *epochs = {"warmup_steps",
             std::to_string(std::llround(
                 count * static_cast<double>(length.updates_an_epoch)))};
  return {};
}

bool HasArgument(const Specification& specification, std::string_view key) {
  for (const Argument& argument : specification.arguments) {
    if (argument.key == key) return true;
  }
  return false;
}

}  // namespace

Scheduler::Scheduler(ArgumentReader& arguments) {
  arguments.Read("base_lr", rate_);
  arguments.Read("warmup_steps", warmup_steps_);
  arguments.Read("warmup_begin_lr", warmup_begin_);
  arguments.Read("warmup_mode", {"linear", "constant"}, warmup_mode_);
  warmup_final_ = rate_;
  if (warmup_steps_ < 0) arguments.Refuse("warmup_steps must not be negative");
  if (warmup_begin_ > warmup_final_) {
    arguments.Refuse(
        Format("warmup_begin_lr is %g, but must not exceed the "
               "learning rate, %g",
               warmup_begin_, warmup_final_));
  }
}

double Scheduler::At(int64_t update) {
  if (update >= warmup_steps_) {
    Advance(update);
    return rate_;
  }
  if (warmup_mode_ == 1) return warmup_begin_;
  const double increase = (warmup_final_ - warmup_begin_) *
                          static_cast<double>(update) /
                          static_cast<double>(warmup_steps_);
  return warmup_begin_ + increase;
}

bool Scheduler::Restore(std::span<const double> state) {
  if (state.size() != 1) return false;
  rate_ = state[0];
  return true;
}

StatusOr<std::unique_ptr<Scheduler>> MakeScheduler(
    const Specification& specification) {
  std::string_view name = specification.name;
  constexpr std::string_view kSuffix = "scheduler";
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  std::vector<std::string_view> known;
  for (const SchedulerEntry& entry : kSchedulers) {
    known.push_back(entry.name);
    if (entry.name != name) continue;
    ArgumentReader arguments(specification, "schedule");
    std::unique_ptr<Scheduler> scheduler = entry.make(arguments);
    MXC_RT_RETURN_IF_ERROR(arguments.Finish());
    return scheduler;
  }
  return UnknownName("schedule", specification.name, known);
}

StatusOr<std::unique_ptr<Scheduler>> ParseSchedule(
    std::string_view text, std::optional<double> learning_rate,
    const std::optional<RunLength>& length) {
  StatusOr<Specification> specification =
      ParseSpecification(text.empty() ? "constant" : text);
  if (!specification.ok()) return specification.status();
  if (length) MXC_RT_RETURN_IF_ERROR(TakeLength(*length, *specification));
  const bool has_base = HasArgument(*specification, "base_lr");
  if (learning_rate && !has_base) {
    specification->arguments.push_back(
        {"base_lr", Format("%.17g", *learning_rate)});
  }
  StatusOr<std::unique_ptr<Scheduler>> scheduler =
      MakeScheduler(*specification);
  if (scheduler.ok() && learning_rate && has_base) {
    (*scheduler)->OverrideBase(*learning_rate);
  }
  return scheduler;
}

}  // namespace mxc::train
