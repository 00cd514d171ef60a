// SPDX-License-Identifier: Apache-2.0
#include "tests/support/onnx_model.h"
#include "frontend/frontend.h"
#include "frontend/network_file.h"
#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

using test::OnnxFloats;
using test::OnnxIntAttribute;
using test::OnnxInts;
using test::OnnxIntsAttribute;
using test::OnnxModel;
using test::OnnxNode;
using test::OnnxPort;

// A picture's layer, with what computes shapes behind it.
OnnxModel Picture() {
  OnnxModel model;
  model.inputs = {OnnxPort("x", {"N", "2", "6", "6"})};
  model.initializers = {OnnxFloats("w", {2, 2, 1, 1}, {1, 2, 3, 4}),
                        OnnxInts("rest", {-1}), OnnxInts("first", {0})};
  model.nodes = {
      OnnxNode("Conv", {"x", "w"}, {"c"},
               {OnnxIntsAttribute("strides", {2, 2})}),
      OnnxNode("MaxPool", {"c"}, {"p"},
               {OnnxIntsAttribute("kernel_shape", {2, 2}),
                OnnxIntAttribute("ceil_mode", 1)}),
      OnnxNode("Shape", {"p"}, {"s"}),
      OnnxNode("Gather", {"s", "first"}, {"n"}),
      OnnxNode("Concat", {"n", "rest"}, {"to"}, {OnnxIntAttribute("axis", 0)}),
      OnnxNode("Reshape", {"p", "to"}, {"y"})};
  model.outputs = {OnnxPort("y", {"N", ""})};
  return model;
}

std::vector<std::string> Seeds() {
  return {test::OnnxLayer().Bytes(), Picture().Bytes()};
}

// What is read is a network that can be written, and read again.
void RunOnnxModel(Bytes input) {
  const auto file =
      OpenNetwork(std::make_shared<const NetworkSource>(SourceOf(input)));
  if (!file.ok()) {
    (void)Render(file.errors());
    return;
  }
  const auto model = BuildModel(**file, {});
  if (!model.ok()) {
    (void)Render(model.errors());
    return;
  }
  if (const auto broken = Verify(model->graph)) Wrong(*broken);
  (void)ReadAgain(WriteSymbol(model->graph));
}

}  // namespace

extern const Target onnx_model;
const Target onnx_model = {
    .run = RunOnnxModel, .seeds = Seeds, .most_bytes = 2048, .words = {}};

}  // namespace mxc::fuzz
