// SPDX-License-Identifier: Apache-2.0
// Runs a Caffe definition by the interpreter.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/frontend.h"

namespace mxc {

struct CaffeRun {
  std::string error;  // "3:5 sentence" of the first; empty: there is none
  std::vector<std::string> names;  // of outputs
  std::vector<Tensor> outputs;

  // The elements of an output, row by row, and its shape: "(1, 2)".
  std::vector<double> Values(int i = 0) const;
  std::string ShapeOf(int i = 0) const;
};

Result<Model> LoadCaffe(const std::string& text,
                        const LoadOptions& options = {});

// `values`: those of inputs, parameters and states, by name.
CaffeRun RunCaffe(const std::string& text,
                  const std::map<std::string, Tensor>& values,
                  const LoadOptions& options = {});

// "layer { name: 'y' type: 'TYPE' bottom: 'x' top: 'y' MORE }" behind an input x
// of the tensor's shape.
CaffeRun RunLayer(const std::string& type, const std::string& more,
                  const Tensor& x,
                  const std::map<std::string, Tensor>& parameters = {});

// "input" and "input_shape" of such inputs.
std::string CaffeInputs(const std::map<std::string, Tensor>& inputs);

}  // namespace mxc
