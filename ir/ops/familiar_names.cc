// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/familiar_names.h"

namespace mxc {
namespace {

struct Familiar {
  std::string_view theirs, ours;
};

constexpr Familiar kOperators[] = {
    {"Dense", "FullyConnected"},
    {"Linear", "FullyConnected"},
    {"Conv1D", "Convolution"},
    {"Conv2D", "Convolution"},
    {"Conv3D", "Convolution"},
    {"Conv1d", "Convolution"},
    {"Conv2d", "Convolution"},
    {"Conv3d", "Convolution"},
    {"DepthwiseConv2D", "Convolution"},
    {"Conv2DTranspose", "Deconvolution"},
    {"ConvTranspose2d", "Deconvolution"},
    {"MaxPooling2D", "Pooling"},
    {"AveragePooling2D", "Pooling"},
    {"GlobalAveragePooling2D", "Pooling"},
    {"GlobalMaxPooling2D", "Pooling"},
    {"MaxPool2d", "Pooling"},
    {"AvgPool2d", "Pooling"},
    {"AdaptiveAvgPool2d", "_contrib_AdaptiveAvgPooling2D"},
    {"BatchNormalization", "BatchNorm"},
    {"BatchNorm1d", "BatchNorm"},
    {"BatchNorm2d", "BatchNorm"},
    {"LayerNormalization", "LayerNorm"},
    {"InstanceNorm2d", "InstanceNorm"},
    {"ReLU", "relu"},
    {"PReLU", "LeakyReLU"},
    {"ELU", "LeakyReLU"},
    {"GELU", "LeakyReLU"},
    {"Sigmoid", "sigmoid"},
    {"Tanh", "tanh"},
    {"Concatenate", "Concat"},
    {"Add", "elemwise_add"},
    {"Multiply", "elemwise_mul"},
    {"ZeroPadding2D", "Pad"},
    {"UpSampling2D", "UpSampling"},
    {"Upsample", "UpSampling"},
    {"Permute", "transpose"},
    {"LSTM", "RNN"},
    {"GRU", "RNN"},
};

constexpr Familiar kAttributes[] = {
    {"units", "num_hidden"},
    {"out_features", "num_hidden"},
    {"filters", "num_filter"},
    {"out_channels", "num_filter"},
    {"kernel_size", "kernel"},
    {"pool_size", "kernel"},
    {"strides", "stride"},
    {"padding", "pad"},
    {"padding", "pad_width"},
    {"dilation_rate", "dilate"},
    {"dilation", "dilate"},
    {"groups", "num_group"},
    {"bias", "no_bias"},
    {"use_bias", "no_bias"},
    {"activation", "act_type"},
    {"epsilon", "eps"},
    {"rate", "p"},
    {"alpha", "slope"},
    {"negative_slope", "slope"},
    {"num_embeddings", "input_dim"},
    {"embedding_dim", "output_dim"},
    {"hidden_size", "state_size"},
    {"scale_factor", "scale"},
    {"dim", "axis"},
};

}  // namespace

std::string_view FamiliarOperator(std::string_view name) {
  for (const Familiar& familiar : kOperators) {
    if (familiar.theirs == name) return familiar.ours;
  }
  return {};
}

std::string_view FamiliarAttribute(std::string_view name, int i) {
  for (const Familiar& familiar : kAttributes) {
    if (familiar.theirs == name && i-- == 0) return familiar.ours;
  }
  return {};
}

}  // namespace mxc
