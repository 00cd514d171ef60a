// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/initializer.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/train/initializers/declarations.h"
#include "runtime/train/random.h"

namespace mxc::train {
namespace {

struct InitializerEntry {
  std::string_view name;
  InitializerRef (*make)(ArgumentReader& arguments);
};

constexpr InitializerEntry kInitializers[] = {
#define MXC_INITIALIZER(function, name) {name, MakeInitializer_##function},
#include "runtime/train/initializers.def"
#undef MXC_INITIALIZER
};

std::vector<std::string_view> Names() {
  std::vector<std::string_view> names;
  for (const InitializerEntry& entry : kInitializers) {
    names.push_back(entry.name);
  }
  return names;
}

void FillConstant(const Target& target, float value) {
  std::ranges::fill(target.values, value);
}

Status FillZero(const Initializer&, const Target& target) {
  FillConstant(target, 0);
  return {};
}

Status FillOne(const Initializer&, const Target& target) {
  FillConstant(target, 1);
  return {};
}

Status FillWeight(const Initializer& weights, const Target& target) {
  return weights.Fill(target);
}

Status FillBilinear(const Initializer&, const Target& target) {
  return (*ParseInitializer("bilinear"))->Fill(target);
}

// The identity of a spatial transformer: rows (1, 0, 0) and (0, 1, 0).
Status FillLocation(const Initializer&, const Target& target) {
  if (target.values.size() != 6) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' must have 6 elements, for it is the bias of a spatial "
                "transformer's location",
                target.name.c_str());
  }
  FillConstant(target, 0);
  target.values[0] = target.values[4] = 1;
  return {};
}

// One random integer for all elements, as MXNet draws it.
Status FillQuantized(const Initializer&, const Target& target) {
  const uint32_t bits = RandomStream(target.seed, target.name).At(0)[0];
  FillConstant(target, static_cast<float>(bits % 254) - 127);
  return {};
}

struct Rule {
  std::string_view prefix, suffix;
  Status (*fill)(const Initializer& weights, const Target& target);
};

// Each list in the order in which MXNet asks.
constexpr auto kModuleRules = std::to_array<Rule>({
    {"", "weight", FillWeight},
    {"", "bias", FillZero},
    {"", "gamma", FillOne},
    {"", "beta", FillZero},
    {"", "min", FillZero},
    {"", "max", FillOne},
    {"", "weight_quantize", FillQuantized},
    {"", "bias_quantize", FillZero},
});
constexpr auto kStringRules = std::to_array<Rule>({
    {"upsampling", "", FillBilinear},
    {"stn_loc", "weight", FillZero},
    {"stn_loc", "bias", FillLocation},
    {"", "bias", FillZero},
    {"", "gamma", FillOne},
    {"", "beta", FillZero},
    {"", "weight", FillWeight},
    {"", "moving_mean", FillZero},
    {"", "moving_var", FillOne},
    {"", "moving_inv_var", FillZero},
    {"", "moving_avg", FillZero},
    {"", "min", FillZero},
    {"", "max", FillOne},
});
constexpr auto kFurtherRules = std::to_array<Rule>({
    {"", "running_mean", FillZero},
    {"", "running_var", FillOne},
});

const Rule* FindRule(std::span<const Rule> rules, std::string_view name) {
  for (const Rule& rule : rules) {
    if (name.starts_with(rule.prefix) && name.ends_with(rule.suffix)) {
      return &rule;
    }
  }
  return nullptr;
}

const Rule* FindRule(NameRules rules, std::string_view name) {
  if (rules == NameRules::kModule) return FindRule(kModuleRules, name);
  const Rule* found = FindRule(kStringRules, name);
  if (found != nullptr || rules == NameRules::kString) return found;
  found = FindRule(kModuleRules, name);
  return found != nullptr ? found : FindRule(kFurtherRules, name);
}

}  // namespace

StatusOr<InitializerRef> ParseInitializer(std::string_view text) {
  const StatusOr<Specification> specification =
      text.starts_with('[') ? ParseJsonSpecification(text)
                            : ParseSpecification(text);
  if (!specification.ok()) return specification.status();
  for (const InitializerEntry& entry : kInitializers) {
    if (entry.name != specification->name) continue;
    ArgumentReader arguments(*specification, "initializer");
    InitializerRef initializer = entry.make(arguments);
    MXC_RT_RETURN_IF_ERROR(arguments.Finish());
    return initializer;
  }
  return UnknownName("initializer", specification->name, Names());
}

Status FillByName(const Initializer& weights, const Target& target,
                  NameRules rules) {
  if (const Rule* rule = FindRule(rules, target.name)) {
    return rule->fill(weights, target);
  }
  return Fail(StatusCode::kInvalidArgument,
              "no initializer for '%s': its name ends in none of weight, bias, "
              "gamma, beta, moving_mean, moving_var, and it has no __init__ "
              "attribute",
              target.name.c_str());
}

}  // namespace mxc::train
