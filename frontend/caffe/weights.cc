// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "frontend/caffe/net.h"
#include "frontend/caffe/upgrade.h"
#include "frontend/protobuf/wire.h"

namespace mxc::caffe {
namespace {

using runtime::Array;

// The fields `names` of a message.
MessageType Part(const MessageType& whole,
                 std::initializer_list<std::string_view> names) {
  MessageType part{whole.name, {}};
  for (const protobuf::Field& field : whole.fields) {
    if (std::ranges::find(names, field.name) != names.end()) {
      part.fields.push_back(field);
    }
  }
  return part;
}

void ReadBy(MessageType& type, std::string_view field,
            const MessageType& (*message)()) {
  const auto found = std::ranges::find_if(
      type.fields, [&](const auto& one) { return one.name == field; });
  found->message = message;
}

const MessageType& LayerPart() {
  static const MessageType type = Part(
      LayerParameter::Type(), {"name", "type", "bottom", "param", "blobs"});
  return type;
}

const MessageType& V0Part() {
  static const MessageType type =
      Part(V0LayerParameter::Type(), {"name", "type", "blobs"});
  return type;
}

const MessageType& V1Part() {
  static const MessageType type = [] {
    MessageType part =
        Part(V1LayerParameter::Type(),
             {"layer", "bottom", "top", "name", "type", "blobs", "param"});
    ReadBy(part, "layer", &V0Part);
    return part;
  }();
  return type;
}

// What a net's weights take of its fields.
const MessageType& NetPart() {
  static const MessageType type = [] {
    MessageType part = Part(NetParameter::Type(), {"name", "layers", "layer"});
    ReadBy(part, "layer", &LayerPart);
    ReadBy(part, "layers", &V1Part);
    return part;
  }();
  return type;
}

enum class Form { kMatrix, kVector, kAsIs };

struct Role {
  const char* name;
  Form form = Form::kAsIs;
};

// Of the blobs of a layer, in their order.
std::vector<Role> RolesOf(const LayerParameter& layer) {
  const Role weight = {"weight"}, bias = {"bias", Form::kVector};
  const Role matrix = {"weight", Form::kMatrix};
  const Text type = layer.type;
  if (type == "InnerProduct" || type == "Embed") return {matrix, bias};
  if (type == "PReLU") return {{"gamma", Form::kVector}};
  if (type == "Bias") return {{"bias"}};
  if (type == "Scale") {
    if (layer.bottom.size() > 1) return {{"bias"}};
    return {weight, {"bias"}};
  }
  if (type == "BatchNorm") {
    return {{"moving_mean", Form::kVector},
            {"moving_var", Form::kVector},
            {"factor", Form::kVector},
            {"gamma", Form::kVector},
            {"beta", Form::kVector}};
  }
  if (type == "LSTM" || type == "RNN") {
    const size_t usual = type == "LSTM" ? 3 : 5;
    std::vector<Role> roles = {{"x_weight", Form::kMatrix}, bias};
    if (layer.blobs.size() > usual) {
      roles.push_back({"static_weight", Form::kMatrix});
    }
    roles.push_back({"h_weight", Form::kMatrix});
    roles.push_back({"output_weight", Form::kMatrix});
    roles.push_back({"output_bias", Form::kVector});
    return roles;
  }
  return {weight, bias};
}

Extents ShapeOf(const BlobProto& blob) {
  if (blob.shape != nullptr) return blob.shape->dim;
  if (!blob.num && !blob.channels && !blob.height && !blob.width) return {};
  return {blob.num.value_or(0), blob.channels.value_or(0),
          blob.height.value_or(0), blob.width.value_or(0)};
}

// As many axes as a form has, where those before them have one element.
Extents InForm(Extents shape, Form form) {
  if (form != Form::kAsIs) {
    const size_t axes = form == Form::kMatrix ? 2 : 1;
    size_t ones = 0;
    while (shape.size() - ones > axes && shape[ones] == 1) ++ones;
    shape.erase(shape.begin(),
                shape.begin() + static_cast<std::ptrdiff_t>(ones));
    if (form == Form::kVector && shape.size() > 1) {
      // (1, C, 1, 1), as some write the statistics of a BatchNorm.
      std::erase(shape, 1);
    }
  }
  if (shape.empty()) shape.push_back(1);
  return shape;
}

class Weights {
 public:
  explicit Weights(const std::string& path) : path_(path) {}

  Status Add(const LayerParameter& layer) {
    const std::vector<Role> roles = RolesOf(layer);
    const size_t first = arrays_.size();
    for (size_t i = 0; i < layer.blobs.size(); ++i) {
      if (i < layer.param.size() && !layer.param[i].name.empty() &&
          !shared_.insert(layer.param[i].name).second) {
        continue;
      }
      const Role role = i < roles.size() ? roles[i] : Role{"blob"};
      std::string name = fmt::format("{}_{}", layer.name, role.name);
      if (i >= roles.size()) name += std::to_string(i);
      MXC_ASSIGN(Array array, Read(layer.blobs[i], role.form, name));
      arrays_.push_back({std::move(name), std::move(array)});
    }
    if (layer.type == "BatchNorm") Divide(first);
    return Done{};
  }

  // The last of each name, as Caffe copies one after the other.
  ParameterArrays Take() {
    std::set<std::string> names;
    ParameterArrays arrays;
    for (auto at = arrays_.rbegin(); at != arrays_.rend(); ++at) {
      if (names.insert(at->name).second) arrays.push_back(std::move(*at));
    }
    std::ranges::reverse(arrays);
    return arrays;
  }

 private:
  Result<Array> Read(const BlobProto& blob, Form form,
                     const std::string& name) const {
    const bool wide = blob.data.empty();
    const size_t count = wide ? blob.double_data.size() : blob.data.size();
    const Extents shape = InForm(ShapeOf(blob), form);
    const auto elements = CheckedProduct(shape);
    if (!elements || *elements < 0 ||
        static_cast<uint64_t>(*elements) != count) {
      return Error({}, "{}: '{}' has {} numbers, its shape is {}", path_, name,
                   count, ToString(shape));
    }
    auto array = Array::Allocate(runtime::ElementType::kF32, shape);
    if (!array.ok()) {
      return Error({}, "{}: '{}': {}", path_, name, array.status().message());
    }
    if (!wide) {
      const auto bytes = blob.data.bytes();
      if (count > 0) {
        std::memcpy(array->storage.get(), bytes.data(), bytes.size());
      }
      return *array;
    }
    auto* to = reinterpret_cast<float*>(array->storage.get());
    for (size_t i = 0; i < count; ++i) {
      to[i] = static_cast<float>(blob.double_data[i]);
    }
    return *array;
  }

  // The blobs from `first` on: means and variances become what they are sums of.
  void Divide(size_t first) {
    if (arrays_.size() < first + 3) return;
    const Array& last = arrays_[first + 2].array;
    const float factor =
        last.bytes().size() >= sizeof(float)
            ? *reinterpret_cast<const float*>(last.storage.get())
            : 0;
    const float times = factor == 0 ? 0 : 1 / factor;
    for (size_t i = first; i < first + 2; ++i) {
      auto* at = reinterpret_cast<float*>(arrays_[i].array.storage.get());
      const size_t count = arrays_[i].array.bytes().size() / sizeof(float);
      for (size_t k = 0; k < count; ++k) at[k] *= times;
    }
    arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(first) + 2);
  }

  const std::string& path_;
  std::set<Text> shared_;
  ParameterArrays arrays_;
};

}  // namespace

Result<ParameterArrays> ArraysOf(const NetParameter& net,
                                 const std::string& path) {
  Weights weights(path);
  for (const LayerParameter& layer : net.layer) {
    MXC_RETURN_IF_ERROR(weights.Add(layer));
  }
  return weights.Take();
}

Result<ParameterArrays> ReadWeights(std::span<const std::byte> bytes,
                                    const std::string& path) {
  constexpr protobuf::WireLimits kLimits = {.messages = kMostMessages};
  NetParameter net;
  if (const auto wrong = protobuf::ParseWire(bytes, NetPart(), net, kLimits)) {
    return Error({}, "{}: damaged, or no Caffe model: {}", path, *wrong);
  }
  Diagnostics notes;
  const auto place = std::make_shared<const SourceFile>(SourceFile{path, ""});
  MXC_RETURN_IF_ERROR(UpgradeNet(net, place, notes));
  MXC_ASSIGN(ParameterArrays arrays, ArraysOf(net, path));
  if (arrays.empty()) {
    return Error({}, "{}: a Caffe net without weights", path);
  }
  return arrays;
}

}  // namespace mxc::caffe
