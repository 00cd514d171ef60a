// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/net.h"

#include <algorithm>
#include <set>
#include <utility>

#include "frontend/caffe/upgrade.h"
#include "frontend/protobuf/text.h"
#include "frontend/protobuf/wire.h"

namespace mxc::caffe {
namespace {

constexpr protobuf::TextLimits kTextLimits = {.messages = kMostMessages};
constexpr protobuf::WireLimits kWireLimits = {.messages = kMostMessages};

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns whether a state, which has `stages`, is as a rule asks.
bool Meets(const NetworkState& state, const std::set<Text>& stages,
           const NetStateRule& rule) {
  const Phase phase = state.training ? Phase::kTRAIN : Phase::kTEST;
  const auto has = [&](Text stage) { return stages.contains(stage); };
  return (!rule.phase || *rule.phase == phase) &&
         (!rule.min_level || state.level >= *rule.min_level) &&
         (!rule.max_level || state.level <= *rule.max_level) &&
         std::ranges::all_of(rule.stage, has) &&
         std::ranges::none_of(rule.not_stage, has);
}

// What the net itself says of its state, besides.
NetworkState StateOf(const NetParameter& net, NetworkState state) {
  if (net.state == nullptr) return state;
  if (state.level == 0) state.level = net.state->level;
  for (const Text stage : net.state->stage) state.stages.emplace_back(stage);
  return state;
}

}  // namespace

bool IsNetText(const NetworkSource& source) {
  return !source.binary() &&
         protobuf::LooksLike(TextOf(source.bytes()), NetParameter::Type());
}

bool IsSolverText(const NetworkSource& source) {
  return !source.binary() &&
         protobuf::LooksLike(TextOf(source.bytes()), SolverParameter::Type());
}

bool IsNetBytes(std::span<const std::byte> bytes) {
  return protobuf::LooksLike(bytes, NetParameter::Type());
}

Result<std::shared_ptr<const Net>> ReadNet(const NetworkSource& source) {
  auto net = std::make_shared<Net>();
  if (IsNetText(source)) {
    net->source = source.text();
    MXC_RETURN_IF_ERROR(protobuf::ParseText(net->source, NetParameter::Type(),
                                            net->net, net->storage,
                                            kTextLimits));
  } else {
    net->owner = source.owner();
    net->source =
        std::make_shared<const SourceFile>(SourceFile{source.path(), ""});
    if (const auto wrong = protobuf::ParseWire(
            source.bytes(), NetParameter::Type(), net->net, kWireLimits)) {
      return Error({}, "{}: damaged, or no Caffe model: {}", source.path(),
                   *wrong);
    }
  }
  MXC_RETURN_IF_ERROR(UpgradeNet(net->net, net->source, net->notes));
  if (net->net.layer.empty()) {
    return Error({}, "{}: a Caffe net without layers", source.path());
  }
  return std::shared_ptr<const Net>(std::move(net));
}

Result<std::vector<const LayerParameter*>> LayersFor(
    const Net& net, const NetworkState& asked) {
  const NetworkState state = StateOf(net.net, asked);
  const std::set<Text> stages(state.stages.begin(), state.stages.end());
  Diagnostics errors;
  std::vector<const LayerParameter*> layers;
  for (const LayerParameter& layer : net.net.layer) {
    if (!layer.include.empty() && !layer.exclude.empty()) {
      errors.push_back(Error(protobuf::LocateIn(net.source, layer),
                             "layer '{}' has rules to include and to exclude "
                             "it, expected one kind",
                             layer.name));
      continue;
    }
    const auto met = [&](const NetStateRule& rule) {
      return Meets(state, stages, rule);
    };
    const bool in = layer.include.empty()
                        ? std::ranges::none_of(layer.exclude, met)
                        : std::ranges::any_of(layer.include, met);
    if (in) layers.push_back(&layer);
  }
  if (!errors.empty()) return errors;
  return layers;
}

}  // namespace mxc::caffe
