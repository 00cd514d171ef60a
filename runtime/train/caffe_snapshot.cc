// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/caffe_snapshot.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "runtime/formats/caffe_messages.h"
#include "runtime/train/protobuf.h"
#include "runtime/train/state_names.h"

namespace mxc::train {
namespace {

struct Role {
  const char* suffix;
  int place;  // among the blobs of a layer
  bool recurrent = false;
};

constexpr Role kRoles[] = {{"_output_weight", 4, true},
                           {"_output_bias", 5, true},
                           {"_static_weight", 2, true},
                           {"_x_weight", 0, true},
                           {"_h_weight", 3, true},
                           {"_moving_mean", 0},
                           {"_moving_var", 1},
                           {"_weight", 0},
                           {"_bias", 1},
                           {"_gamma", 3},
                           {"_beta", 4}};

struct Blob {
  std::string state;  // empty: the factor of a BatchNorm's sums
  std::vector<int64_t> shape;
  int place = 0;
  bool learned = true;
};

struct CaffeLayer {
  std::string name;
  std::vector<Blob> blobs;

  bool Has(const char* suffix) const {
    return std::ranges::any_of(
        blobs, [&](const Blob& blob) { return blob.state == name + suffix; });
  }
};

// Of a network's states by Caffe's layers, in the order of the network.
class Layers {
 public:
  explicit Layers(const TrainStep& step)
      : step_(step), states_(step.facts(), step.states()) {
    const TrainFacts& facts = step.facts();
    for (const auto* names : {&facts.parameters, &facts.auxiliaries}) {
      names_.insert(names->begin(), names->end());
    }
    for (const NetworkNode& node : step.network()) Add(node.name);
    for (const std::string& name : facts.parameters) Add(name);
    for (const std::string& name : facts.auxiliaries) Add(name);
    for (CaffeLayer& layer : layers_) Settle(layer);
  }

  std::vector<CaffeLayer> Take() { return std::move(layers_); }

  // As InnerProduct or another type with as many axes.
  static const char* TypeOf(const CaffeLayer& layer) {
    if (layer.Has("_moving_mean")) return "BatchNorm";
    if (layer.Has("_output_weight")) return "RNN";
    if (layer.Has("_h_weight")) return "LSTM";
    if (layer.Has("_gamma")) return "PReLU";
    if (!layer.Has("_weight")) return "Bias";
    const size_t axes = layer.blobs.front().shape.size();
    return axes > 2 ? "Convolution" : axes == 2 ? "InnerProduct" : "Scale";
  }

 private:
  void Add(const std::string& name) {
    if (names_.erase(name) == 0) return;
    const std::optional<size_t> index = states_.Find(name);
    if (!index) return;
    const Role role = RoleOf(name);
    const std::string layer =
        name.substr(0, name.size() - std::strlen(role.suffix));
    auto found = std::ranges::find(layers_, layer, &CaffeLayer::name);
    if (found == layers_.end()) {
      layers_.push_back({layer, {}});
      found = layers_.end() - 1;
    }
    found->blobs.push_back(
        {name, step_.states()[*index].shape, role.place,
         std::ranges::count(step_.facts().parameters, name) > 0});
  }
  Role RoleOf(const std::string& name) const {
    for (const Role& role : kRoles) {
      if (!name.ends_with(role.suffix)) continue;
      const std::string layer =
          name.substr(0, name.size() - std::strlen(role.suffix));
      if (role.recurrent && !(states_.Find(layer + "_x_weight") &&
                              states_.Find(layer + "_h_weight"))) {
        continue;
      }
      return role;
    }
    return {"", 0};
  }
  static void Settle(CaffeLayer& layer) {
    if (layer.Has("_moving_mean")) layer.blobs.push_back({"", {1}, 2, false});
    std::ranges::stable_sort(layer.blobs, {}, &Blob::place);
  }

  const TrainStep& step_;
  const StateNames states_;
  std::set<std::string> names_;
  std::vector<CaffeLayer> layers_;
};

std::vector<CaffeLayer> LayersOf(const TrainStep& step) {
  return Layers(step).Take();
}

// What an optimizer keeps under Caffe's name for it.
struct Kept {
  const char* optimizer;
  const char* states[2];  // the second may be null
  float sign;             // of Caffe's
};

constexpr Kept kKept[] = {{"sgd", {"momentum", nullptr}, -1},
                          {"adam", {"mean", "var"}, 1},
                          {"caffe", {"history", "history2"}, 1}};

const Kept* KeptBy(const TrainFacts& facts) {
  const auto found = std::ranges::find_if(kKept, [&](const Kept& kept) {
    return facts.optimizer == kept.optimizer;
  });
  return found == std::end(kKept) ? nullptr : found;
}

StatusOr<std::span<float>> FloatsOf(TrainStep& step, size_t index) {
  const data::Field& field = step.states()[index];
  if (field.type != runtime::ElementType::kF32) {
    return Fail(StatusCode::kUnsupported,
                "'%s' is no float32, as all numbers of Caffe are",
                field.name.c_str());
  }
  const std::span<std::byte> bytes = step.State(index);
  return std::span<float>(reinterpret_cast<float*>(bytes.data()),
                          bytes.size() / sizeof(float));
}

size_t CountOf(const Blob& blob) {
  size_t count = 1;
  for (const int64_t extent : blob.shape) count *= static_cast<size_t>(extent);
  return count;
}

std::string BlobMessage(const Blob& blob, std::span<const float> values) {
  std::string dims, shape, message;
  for (const int64_t extent : blob.shape) {
    PutVarint(dims, static_cast<uint64_t>(extent));
  }
  PutCounted(shape, 1, dims);
  const std::span<const std::byte> bytes = std::as_bytes(values);
  PutCounted(message, 5,
             {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  PutCounted(message, 7, shape);
  return message;
}

// Values of a blob; zeros where there is no such state.
StatusOr<std::vector<float>> ValuesOf(const std::string& name, const Blob& blob,
                                      TrainStep& step,
                                      const StateNames& states) {
  const std::optional<size_t> index = states.Find(name);
  if (!index) return std::vector<float>(CountOf(blob), 0);
  const auto floats = FloatsOf(step, *index);
  if (!floats.ok()) return floats.status();
  return std::vector<float>(floats->begin(), floats->end());
}

Status WriteModel(const std::string& path, TrainStep& step) {
  const StateNames states(step.facts(), step.states());
  runtime::FileWriter file(path);
  std::string head;
  PutCounted(head, 1, step.facts().network);
  file.Append(head);
  for (const CaffeLayer& layer : LayersOf(step)) {
    std::string message;
    PutCounted(message, 1, layer.name);
    PutCounted(message, 2, Layers::TypeOf(layer));
    for (const Blob& blob : layer.blobs) {
      std::vector<float> values = {1};
      if (!blob.state.empty()) {
        MXC_RT_ASSIGN(values, ValuesOf(blob.state, blob, step, states));
      }
      PutCounted(message, 7, BlobMessage(blob, values));
    }
    std::string field;
    PutCounted(field, 100, message);
    file.Append(field);
  }
  return file.Commit();
}

// The second ones stand behind all first ones.
bool KeepsTwo(const Kept& kept, const TrainFacts& facts,
              const StateNames& states) {
  return kept.states[1] != nullptr &&
         std::ranges::any_of(facts.parameters, [&](const std::string& name) {
           return states.Find(name + "/" + kept.states[1]).has_value();
         });
}

Status WriteState(const std::string& path, const std::string& model,
                  const CaffeSnapshot& snapshot, TrainStep& step) {
  const TrainFacts& facts = step.facts();
  const StateNames states(facts, step.states());
  const Kept& kept = *KeptBy(facts);
  runtime::FileWriter file(path);
  std::string head;
  PutKey(head, 1, kVarint);
  PutVarint(head, static_cast<uint64_t>(snapshot.steps));
  PutCounted(head, 2, model);
  file.Append(head);
  for (int turn = 0; turn < 1 + KeepsTwo(kept, facts, states); ++turn) {
    for (const CaffeLayer& layer : LayersOf(step)) {
      for (const Blob& blob : layer.blobs) {
        MXC_RT_ASSIGN(
            std::vector<float> values,
            ValuesOf(blob.state + "/" + kept.states[turn], blob, step, states));
        for (float& value : values) value *= kept.sign;
        std::string field;
        PutCounted(field, 3, BlobMessage(blob, values));
        file.Append(field);
      }
    }
  }
  std::string tail;
  PutKey(tail, 4, kVarint);
  PutVarint(tail, static_cast<uint64_t>(snapshot.passed));
  file.Append(tail);
  return file.Commit();
}

}  // namespace

std::string CaffeLacks(const TrainFacts& facts) {
  if (KeptBy(facts) != nullptr) return "";
  return "Caffe has no solver that keeps what optimizer '" + facts.optimizer +
         "' does; it has those of sgd, adam and caffe";
}

Status WriteCaffeSnapshot(const std::string& prefix,
                          const CaffeSnapshot& snapshot, TrainStep& step) {
  const std::string lacks = CaffeLacks(step.facts());
  if (!lacks.empty()) return {StatusCode::kUnsupported, lacks};
  const std::string stem = prefix + "_iter_" + std::to_string(snapshot.steps);
  MXC_RT_RETURN_IF_ERROR(WriteModel(stem + ".caffemodel", step));
  return WriteState(stem + ".solverstate", stem + ".caffemodel", snapshot,
                    step);
}

bool IsCaffeState(const std::string& path) {
  const auto file = runtime::MappedFile::Open(path);
  constexpr auto kFirstTag = std::byte{1 << 3};  // iter
  return file.ok() && !file->bytes().empty() &&
         file->bytes().front() == kFirstTag;
}

StatusOr<CaffeState> ReadCaffeState(const std::string& path) {
  MXC_RT_ASSIGN(const runtime::MappedFile file,
                runtime::MappedFile::Open(path));
  const auto parsed = runtime::ParseCaffeSolverState(file.bytes());
  if (!parsed.ok()) {
    return Status(parsed.status().code(),
                  "'" + path + "': " + parsed.status().message());
  }
  CaffeState state{parsed->steps, parsed->learned_net, {}};
  for (const runtime::CaffeBlob& blob : parsed->history) {
    state.history.push_back(blob.values);
  }
  if (state.steps < 0) {
    return Fail(StatusCode::kCorrupt, "'%s': %lld updates", path.c_str(),
                static_cast<long long>(state.steps));
  }
  return state;
}

namespace {

// Where a blob of the history goes; null: nowhere.
struct Target {
  const std::vector<float>* values;
  std::optional<size_t> state;
};

Status Fill(const std::vector<Target>& targets, float sign, TrainStep& step) {
  for (const Target& target : targets) {
    if (!target.state) continue;
    MXC_RT_ASSIGN(const std::span<float> floats, FloatsOf(step, *target.state));
    std::ranges::transform(*target.values, floats.begin(),
                           [sign](float value) { return sign * value; });
    step.Filled(*target.state);
  }
  return {};
}

void CountUpdates(int64_t steps, const StateNames& states, TrainStep& step) {
  const auto index = states.Find("optimizer/updates");
  if (!index) return;
  std::ranges::copy(std::as_bytes(std::span(&steps, 1)),
                    step.State(*index).begin());
  step.Filled(*index);
}

}  // namespace

Status LoadCaffeState(const CaffeState& state, TrainStep& step) {
  const TrainFacts& facts = step.facts();
  const std::string lacks = CaffeLacks(facts);
  if (!lacks.empty()) return {StatusCode::kUnsupported, lacks};
  const StateNames states(facts, step.states());
  const Kept& kept = *KeptBy(facts);
  const int turns = 1 + KeepsTwo(kept, facts, states);
  std::vector<Target> targets;
  size_t next = 0;
  for (int turn = 0; turn < turns; ++turn) {
    for (const CaffeLayer& layer : LayersOf(step)) {
      for (const Blob& blob : layer.blobs) {
        if (next >= state.history.size() ||
            state.history[next].size() != CountOf(blob)) {
          return Fail(StatusCode::kInvalidArgument,
                      "its history is of another network or solver: blob %zu "
                      "has %zu numbers, expected %zu for '%s'",
                      next,
                      next < state.history.size() ? state.history[next].size()
                                                  : size_t{0},
                      CountOf(blob), layer.name.c_str());
        }
        const std::string name = blob.state + "/" + kept.states[turn];
        targets.push_back({&state.history[next++], states.Find(name)});
      }
    }
  }
  if (next != state.history.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "its history has %zu blobs, the network's %zu",
                state.history.size(), next);
  }
  MXC_RT_RETURN_IF_ERROR(Fill(targets, kept.sign, step));
  CountUpdates(state.steps, states, step);
  return {};
}

}  // namespace mxc::train
