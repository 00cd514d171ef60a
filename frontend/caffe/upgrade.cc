// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/upgrade.h"

#include <algorithm>
#include <utility>

#include "frontend/protobuf/text.h"

namespace mxc::caffe {
namespace {

struct V1Type {
  V1LayerType type;
  const char* word;
};

constexpr V1Type kV1Types[] = {
    {V1LayerType::kABSVAL, "AbsVal"},
    {V1LayerType::kACCURACY, "Accuracy"},
    {V1LayerType::kARGMAX, "ArgMax"},
    {V1LayerType::kBNLL, "BNLL"},
    {V1LayerType::kCONCAT, "Concat"},
    {V1LayerType::kCONTRASTIVE_LOSS, "ContrastiveLoss"},
    {V1LayerType::kCONVOLUTION, "Convolution"},
    {V1LayerType::kDATA, "Data"},
    {V1LayerType::kDECONVOLUTION, "Deconvolution"},
    {V1LayerType::kDROPOUT, "Dropout"},
    {V1LayerType::kDUMMY_DATA, "DummyData"},
    {V1LayerType::kELTWISE, "Eltwise"},
    {V1LayerType::kEUCLIDEAN_LOSS, "EuclideanLoss"},
    {V1LayerType::kEXP, "Exp"},
    {V1LayerType::kFLATTEN, "Flatten"},
    {V1LayerType::kHDF5_DATA, "HDF5Data"},
    {V1LayerType::kHDF5_OUTPUT, "HDF5Output"},
    {V1LayerType::kHINGE_LOSS, "HingeLoss"},
    {V1LayerType::kIM2COL, "Im2col"},
    {V1LayerType::kIMAGE_DATA, "ImageData"},
    {V1LayerType::kINFOGAIN_LOSS, "InfogainLoss"},
    {V1LayerType::kINNER_PRODUCT, "InnerProduct"},
    {V1LayerType::kLRN, "LRN"},
    {V1LayerType::kMEMORY_DATA, "MemoryData"},
    {V1LayerType::kMULTINOMIAL_LOGISTIC_LOSS, "MultinomialLogisticLoss"},
    {V1LayerType::kMVN, "MVN"},
    {V1LayerType::kPOOLING, "Pooling"},
    {V1LayerType::kPOWER, "Power"},
    {V1LayerType::kRELU, "ReLU"},
    {V1LayerType::kSIGMOID, "Sigmoid"},
    {V1LayerType::kSIGMOID_CROSS_ENTROPY_LOSS, "SigmoidCrossEntropyLoss"},
    {V1LayerType::kSILENCE, "Silence"},
    {V1LayerType::kSLICE, "Slice"},
    {V1LayerType::kSOFTMAX, "Softmax"},
    {V1LayerType::kSOFTMAX_LOSS, "SoftmaxWithLoss"},
    {V1LayerType::kSPLIT, "Split"},
    {V1LayerType::kTANH, "TanH"},
    {V1LayerType::kTHRESHOLD, "Threshold"},
    {V1LayerType::kWINDOW_DATA, "WindowData"},
};

Text WordOf(V1LayerType type) {
  const auto known = std::ranges::find(kV1Types, type, &V1Type::type);
  return known == std::end(kV1Types) ? Text() : Text(known->word);
}

// Where names and factors of a layer's parameters stand in lists of their own.
std::vector<ParamSpec> ParamsOf(const V1LayerParameter& from) {
  std::vector<ParamSpec> params(
      std::max({from.param.size(), from.blobs_lr.size(),
                from.weight_decay.size(), from.blob_share_mode.size()}));
  for (size_t i = 0; i < params.size(); ++i) {
    if (i < from.param.size()) params[i].name = from.param[i];
    if (i < from.blobs_lr.size()) params[i].lr_mult = from.blobs_lr[i];
    if (i < from.weight_decay.size()) {
      params[i].decay_mult = from.weight_decay[i];
    }
    if (i < from.blob_share_mode.size()) {
      params[i].share_mode = from.blob_share_mode[i];
    }
  }
  return params;
}

LayerParameter Upgraded(V1LayerParameter from) {
  LayerParameter to;
  to.line = from.line;
  to.column = from.column;
  to.type = WordOf(from.type);
  to.param = ParamsOf(from);
#define MOVE(field) to.field = std::move(from.field)
  MOVE(bottom), MOVE(top), MOVE(name), MOVE(blobs), MOVE(include);
  MOVE(exclude), MOVE(loss_weight), MOVE(accuracy_param), MOVE(argmax_param);
  MOVE(concat_param), MOVE(contrastive_loss_param), MOVE(convolution_param);
  MOVE(data_param), MOVE(dropout_param), MOVE(dummy_data_param);
  MOVE(eltwise_param), MOVE(exp_param), MOVE(hdf5_data_param);
  MOVE(hdf5_output_param), MOVE(hinge_loss_param), MOVE(image_data_param);
  MOVE(infogain_loss_param), MOVE(inner_product_param), MOVE(lrn_param);
  MOVE(memory_data_param), MOVE(mvn_param), MOVE(pooling_param);
  MOVE(power_param), MOVE(relu_param), MOVE(sigmoid_param);
  MOVE(softmax_param), MOVE(slice_param), MOVE(tanh_param);
  MOVE(threshold_param), MOVE(window_data_param), MOVE(transform_param);
  MOVE(loss_param);
#undef MOVE
  return to;
}

Status UpgradeV1(NetParameter& net,
                 const std::shared_ptr<const SourceFile>& source,
                 Diagnostics& notes) {
  if (net.layers.empty()) return Done{};
  if (!net.layer.empty()) {
    // Caffe refuses a net of both; that of the newer generation is complete.
    notes.push_back(Error(protobuf::LocateIn(source, net.layers[0]),
                          "the net has 'layer' and 'layers'; the latter, of an "
                          "older generation, are ignored"));
    net.layers.clear();
    return Done{};
  }
  for (V1LayerParameter& layer : net.layers) {
    net.layer.push_back(Upgraded(std::move(layer)));
  }
  net.layers.clear();
  return Done{};
}

// Of a source's transformations the shape of its top needs this one.
template <class T>
void MoveCrop(const One<T>& from, LayerParameter& layer) {
  if (from == nullptr || !from->crop_size) return;
  if (layer.transform_param == nullptr) {
    layer.transform_param = std::make_unique<TransformationParameter>();
  }
  layer.transform_param->crop_size = *from->crop_size;
}

// A layer of type Input for the inputs that the net itself names.
Status UpgradeInputs(NetParameter& net,
                     const std::shared_ptr<const SourceFile>& source) {
  constexpr size_t kAxes = 4;  // of input_dim
  if (net.input.empty()) return Done{};
  const SourceLoc loc = protobuf::LocateIn(source, net);
  const size_t inputs = net.input.size();
  if (net.input_shape.empty() && net.input_dim.size() != kAxes * inputs &&
      !net.input_dim.empty()) {
    return Error(loc, "{} inputs have {} input_dim, expected four for each",
                 inputs, net.input_dim.size());
  }
  if (!net.input_shape.empty() && net.input_shape.size() != inputs) {
    return Error(loc, "{} inputs have {} input_shape, expected one for each",
                 inputs, net.input_shape.size());
  }
  LayerParameter layer;
  layer.name = "input";
  layer.type = "Input";
  layer.top = net.input;
  layer.input_param = std::make_unique<InputParameter>();
  layer.input_param->shape = std::move(net.input_shape);
  for (size_t i = 0; i + kAxes <= net.input_dim.size(); i += kAxes) {
    if (layer.input_param->shape.size() == inputs) break;
    BlobShape shape;
    shape.dim.assign(net.input_dim.begin() + i,
                     net.input_dim.begin() + i + kAxes);
    layer.input_param->shape.push_back(std::move(shape));
  }
  net.layer.insert(net.layer.begin(), std::move(layer));
  net.input.clear();
  net.input_dim.clear();
  net.input_shape.clear();
  return Done{};
}

}  // namespace

Status UpgradeNet(NetParameter& net,
                  const std::shared_ptr<const SourceFile>& source,
                  Diagnostics& notes) {
  MXC_RETURN_IF_ERROR(UpgradeV0(net, source, notes));
  MXC_RETURN_IF_ERROR(UpgradeV1(net, source, notes));
  for (LayerParameter& layer : net.layer) {
    MoveCrop(layer.data_param, layer);
    MoveCrop(layer.image_data_param, layer);
    MoveCrop(layer.window_data_param, layer);
  }
  return UpgradeInputs(net, source);
}

}  // namespace mxc::caffe
