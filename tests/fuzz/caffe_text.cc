// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunState(Bytes input, bool training) {
  LoadOptions options;
  options.state = {training, 0, {"a"}};
  auto model = LoadText(SourceOf(input), options);
  if (!model.ok()) {
    (void)Render(model.errors());
    return;
  }
  (void)ReadAgain(WriteSymbol(model->graph));
  (void)Infers(model->graph);
}

void RunCaffeText(Bytes input) {
  RunState(input, false);
  RunState(input, true);
}

std::vector<std::string> CaffeTexts() {
  const std::string x =
      "input: 'x' input_shape { dim: 2 dim: 4 dim: 5 dim: 5 }";
  const auto layer = [](const std::string& type, const std::string& more) {
    return "layer{name:'y' type:'" + type + "' bottom:'x' top:'y' " + more +
           "}";
  };
  return {
      x + layer("Convolution",
                "convolution_param<num_output:2 kernel_size:[3,3]"
                " weight_filler{type:'xavier'}>"),
      x + layer("Pooling", "pooling_param{kernel_size:3 stride:2 pad:1}"),
      x + layer("InnerProduct",
                "param{name:'w' lr_mult:2} "
                "inner_product_param{num_output:3 axis:-1}"),
      x + layer("Reshape", "reshape_param{axis:1 shape{dim:0 dim:-1}}"),
      x + layer("BatchNorm", "") +
          layer("Scale", "scale_param{bias_term:true}"),
      x + layer("LRN", "lrn_param{norm_region:WITHIN_CHANNEL}"),
      x + layer("Slice", "top:'z' slice_param{slice_point:1}"),
      x + layer("SPP", "spp_param{pyramid_height:2}"),
      "input:'x' input:'c' input_shape{dim:2 dim:1 dim:3}"
      "input_shape{dim:2 dim:1}layer{name:'y' type:'LSTM' bottom:'x' "
      "bottom:'c' "
      "top:'y' recurrent_param{num_output:2}}",
      "layer{name:'d' type:'Data' top:'x' top:'l' include{phase:TRAIN "
      "stage:'a'}"
      "transform_param{crop_size:4} data_param{batch_size:2}}"
      "layer{name:'y' type:'SoftmaxWithLoss' bottom:'x' bottom:'l' top:'y'}",
      "input:'x' input_dim:1 input_dim:2 input_dim:5 input_dim:5 layers{layer{"
      "name:'p' type:'padding' pad:1} bottom:'x' top:'z'} "
      "layers{layer{name:'c' "
      "type:'conv' num_output:2 kernelsize:3} bottom:'z' top:'y'}"};
}

}  // namespace

extern const Target caffe_text;
const Target caffe_text = {.run = RunCaffeText,
                           .seeds = CaffeTexts,
                           .most_bytes = 1024,
                           .words = {"layer{",
                                     "layers{",
                                     "input:",
                                     "dim:",
                                     "type:'",
                                     "bottom:'x'",
                                     "top:'y'",
                                     "Convolution",
                                     "Deconvolution",
                                     "Eltwise",
                                     "Concat",
                                     "Crop",
                                     "Tile",
                                     "ArgMax",
                                     "Reduction",
                                     "Flatten",
                                     "Permute",
                                     "Embed",
                                     "RNN",
                                     "Accuracy",
                                     "HingeLoss",
                                     "ContrastiveLoss",
                                     "pad:",
                                     "stride:",
                                     "kernel_size:",
                                     "num_output:",
                                     "axis:",
                                     "4294967295",
                                     "-9223372036854775808",
                                     "1e39",
                                     "inf",
                                     "# ",
                                     "\\x"}};

}  // namespace mxc::fuzz
