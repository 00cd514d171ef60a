// SPDX-License-Identifier: Apache-2.0
// The first generation: one message for all layers, its type a word.
#include <algorithm>
#include <map>
#include <utility>

#include "frontend/caffe/upgrade.h"
#include "frontend/protobuf/text.h"

namespace mxc::caffe {
namespace {

struct V0Type {
  std::string_view word;
  V1LayerType type;
};

constexpr V0Type kV0Types[] = {
    {"accuracy", V1LayerType::kACCURACY},
    {"bnll", V1LayerType::kBNLL},
    {"concat", V1LayerType::kCONCAT},
    {"conv", V1LayerType::kCONVOLUTION},
    {"data", V1LayerType::kDATA},
    {"dropout", V1LayerType::kDROPOUT},
    {"euclidean_loss", V1LayerType::kEUCLIDEAN_LOSS},
    {"flatten", V1LayerType::kFLATTEN},
    {"hdf5_data", V1LayerType::kHDF5_DATA},
    {"hdf5_output", V1LayerType::kHDF5_OUTPUT},
    {"im2col", V1LayerType::kIM2COL},
    {"images", V1LayerType::kIMAGE_DATA},
    {"infogain_loss", V1LayerType::kINFOGAIN_LOSS},
    {"innerproduct", V1LayerType::kINNER_PRODUCT},
    {"lrn", V1LayerType::kLRN},
    {"multinomial_logistic_loss", V1LayerType::kMULTINOMIAL_LOGISTIC_LOSS},
    {"pool", V1LayerType::kPOOLING},
    {"relu", V1LayerType::kRELU},
    {"sigmoid", V1LayerType::kSIGMOID},
    {"softmax", V1LayerType::kSOFTMAX},
    {"softmax_loss", V1LayerType::kSOFTMAX_LOSS},
    {"split", V1LayerType::kSPLIT},
    {"tanh", V1LayerType::kTANH},
    {"window_data", V1LayerType::kWINDOW_DATA},
};

template <class T>
T& Made(One<T>& one) {
  if (one == nullptr) one = std::make_unique<T>();
  return *one;
}

// Moves the fields of one layer's old message into the new ones.
class V0Layer {
 public:
  V0Layer(V1LayerParameter& layer,
          const std::shared_ptr<const SourceFile>& source, Diagnostics& notes)
      : to_(layer),
        from_(*layer.layer),
        source_(source),
        notes_(notes),
        type_(from_.type) {}

  Status Move() {
    to_.name = from_.name;
    const auto known = std::ranges::find(kV0Types, type_, &V0Type::word);
    if (known == std::end(kV0Types)) {
      return Error(protobuf::LocateIn(source_, from_),
                   "layer '{}': unknown type '{}'", from_.name, type_);
    }
    to_.type = known->type;
    to_.blobs = std::move(from_.blobs);
    to_.blobs_lr = std::move(from_.blobs_lr);
    to_.weight_decay = std::move(from_.weight_decay);
    MoveLayers();
    MoveSources();
    MoveRest();
    return Done{};
  }

 private:
  bool Is(std::string_view type) const { return type_ == type; }

  // Caffe, too, says it and goes on.
  void PassOver(const char* field) {
    notes_.push_back(Error(
        protobuf::LocateIn(source_, from_),
        "layer '{}': field '{}' means nothing to the type '{}'; it is ignored",
        from_.name, field, type_));
  }

  void MoveLayers() {
    const bool conv = Is("conv"), pool = Is("pool"), inner = Is("innerproduct");
    if (from_.num_output) {
      if (conv) {
        Made(to_.convolution_param).num_output = *from_.num_output;
      } else if (inner) {
        Made(to_.inner_product_param).num_output = *from_.num_output;
      } else {
        PassOver("num_output");
      }
    }
    if (from_.biasterm) {
      if (conv) {
        Made(to_.convolution_param).bias_term = *from_.biasterm;
      } else if (inner) {
        Made(to_.inner_product_param).bias_term = *from_.biasterm;
      } else {
        PassOver("biasterm");
      }
    }
    MoveFillers(conv, inner);
    if (conv) MoveWindow(Made(to_.convolution_param));
    if (pool) MovePooling(Made(to_.pooling_param));
    if (!conv && !pool) {
      if (from_.pad) PassOver("pad");
      if (from_.kernelsize) PassOver("kernelsize");
      if (from_.stride) PassOver("stride");
    }
    if (from_.group && !conv) PassOver("group");
    if (from_.pool && !pool) PassOver("pool");
  }

  void MoveFillers(bool conv, bool inner) {
    if (conv) {
      Made(to_.convolution_param).weight_filler =
          std::move(from_.weight_filler);
      to_.convolution_param->bias_filler = std::move(from_.bias_filler);
    } else if (inner) {
      Made(to_.inner_product_param).weight_filler =
          std::move(from_.weight_filler);
      to_.inner_product_param->bias_filler = std::move(from_.bias_filler);
    } else {
      if (from_.weight_filler) PassOver("weight_filler");
      if (from_.bias_filler) PassOver("bias_filler");
    }
  }

  void MoveWindow(ConvolutionParameter& to) {
    if (from_.pad) to.pad.push_back(*from_.pad);
    if (from_.kernelsize) to.kernel_size.push_back(*from_.kernelsize);
    if (from_.stride) to.stride.push_back(*from_.stride);
    if (from_.group) to.group = *from_.group;
  }

  void MovePooling(PoolingParameter& to) {
    to.pad = from_.pad;
    to.kernel_size = from_.kernelsize;
    to.stride = from_.stride;
    if (from_.pool) to.pool = *from_.pool;
  }

  void MoveSources() {
    if (Is("data")) {
      MoveSource(Made(to_.data_param));
    } else if (Is("images")) {
      ImageDataParameter& to = Made(to_.image_data_param);
      MoveSource(to);
      if (from_.shuffle_images) to.shuffle = *from_.shuffle_images;
      if (from_.new_height) to.new_height = AtLeast0(*from_.new_height);
      if (from_.new_width) to.new_width = AtLeast0(*from_.new_width);
    } else if (Is("window_data")) {
      MoveSource(Made(to_.window_data_param));
    } else if (Is("hdf5_data")) {
      HDF5DataParameter& to = Made(to_.hdf5_data_param);
      to.source = from_.source;
      to.batch_size = from_.batchsize.value_or(0);
    } else if (Is("infogain_loss")) {
      Made(to_.infogain_loss_param).source = from_.source;
    } else {
      if (!from_.source.empty()) PassOver("source");
      if (from_.batchsize) PassOver("batchsize");
    }
    if (from_.cropsize) Made(to_.transform_param).crop_size = *from_.cropsize;
  }

  static uint32_t AtLeast0(int32_t value) {
    return static_cast<uint32_t>(std::max(value, 0));
  }

  template <class T>
  void MoveSource(T& to) {
    to.source = from_.source;
    if (from_.batchsize) to.batch_size = *from_.batchsize;
  }

  void MoveRest() {
    if (from_.dropout_ratio && Is("dropout")) {
      Made(to_.dropout_param).dropout_ratio = *from_.dropout_ratio;
    } else if (from_.dropout_ratio) {
      PassOver("dropout_ratio");
    }
    if (Is("lrn")) {
      LRNParameter& to = Made(to_.lrn_param);
      if (from_.local_size) to.local_size = *from_.local_size;
      if (from_.alpha) to.alpha = *from_.alpha;
      if (from_.beta) to.beta = *from_.beta;
      if (from_.k) to.k = *from_.k;
    } else if (from_.local_size || from_.alpha || from_.beta || from_.k) {
      PassOver("local_size, alpha, beta, k");
    }
    if (from_.concat_dim && Is("concat")) {
      Made(to_.concat_param).concat_dim = *from_.concat_dim;
    } else if (from_.concat_dim) {
      PassOver("concat_dim");
    }
    to_.hdf5_output_param = std::move(from_.hdf5_output_param);
  }

  V1LayerParameter& to_;
  V0LayerParameter& from_;
  const std::shared_ptr<const SourceFile>& source_;
  Diagnostics& notes_;
  const Text type_;
};

bool IsPadding(const V1LayerParameter& layer) {
  return layer.layer != nullptr && layer.layer->type == "padding";
}

// A layer that pads is done by the one that reads it.
Status TakePadding(V1LayerParameter& layer, const V1LayerParameter& padding,
                   const std::shared_ptr<const SourceFile>& source) {
  const bool windows = layer.layer != nullptr && (layer.layer->type == "conv" ||
                                                  layer.layer->type == "pool");
  if (!windows || layer.bottom.size() != 1) {
    return Error(
        protobuf::LocateIn(source, layer),
        "padding feeds a layer of type '{}', expected one conv or pool",
        layer.layer != nullptr ? layer.layer->type : "");
  }
  if (padding.bottom.size() != 1 || padding.top.size() != 1) {
    return Error(protobuf::LocateIn(source, padding),
                 "a layer of padding has {} bottoms and {} tops, expected one",
                 padding.bottom.size(), padding.top.size());
  }
  layer.layer->pad = padding.layer->pad.value_or(0);
  layer.bottom[0] = padding.bottom[0];
  return Done{};
}

Status RemovePadding(NetParameter& net,
                     const std::shared_ptr<const SourceFile>& source) {
  std::map<Text, const V1LayerParameter*> maker;  // the last one, by top
  for (V1LayerParameter& layer : net.layers) {
    for (size_t i = 0; i < layer.bottom.size(); ++i) {
      const auto found = maker.find(layer.bottom[i]);
      if (found == maker.end() || !IsPadding(*found->second)) continue;
      MXC_RETURN_IF_ERROR(TakePadding(layer, *found->second, source));
    }
    for (const Text top : layer.top) maker[top] = &layer;
  }
  std::erase_if(net.layers, IsPadding);
  return Done{};
}

}  // namespace

Status UpgradeV0(NetParameter& net,
                 const std::shared_ptr<const SourceFile>& source,
                 Diagnostics& notes) {
  const bool old = std::ranges::any_of(
      net.layers, [](const auto& layer) { return layer.layer != nullptr; });
  if (!old) return Done{};
  MXC_RETURN_IF_ERROR(RemovePadding(net, source));
  for (V1LayerParameter& layer : net.layers) {
    if (layer.layer == nullptr) continue;
    MXC_RETURN_IF_ERROR(V0Layer(layer, source, notes).Move());
    layer.layer = nullptr;
  }
  return Done{};
}

}  // namespace mxc::caffe
