// SPDX-License-Identifier: Apache-2.0
// Makes the nodes of MXNet's quantized form, as a symbol has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "tools/quantize/fused_layer.h"
#include "tools/quantize/value_range.h"

namespace mxc {

// A tensor of 8-bit numbers, and the ends of what they stand for.
struct Integers {
  Value levels, low, high;
  bool is_unsigned = false;
};

class IntegerNodes {
 public:
  explicit IntegerNodes(Graph& graph) : graph_(graph) {}

  // Unsigned where the range has no negatives, unless `is_signed`.
  Integers Quantize(Value floats, const ValueRange& range, bool is_signed);
  Value Dequantize(const Integers& integers, const std::string& name);
  // The layer, its output limited to the range. A sum of which IsWritable says
  // no must not be asked for.
  Integers Layer(const FusedLayer& layer, const Integers& data,
                 const Integers* summand, const ValueRange& range,
                 const std::string& name);
  // A product's output as floats.
  Value FloatLayer(const FusedLayer& layer, const Integers& data,
                   const std::string& name);
  // Returns whether the sum has the type that oneDNN, which adds to the summand
  // where it lies, makes of it.
  static bool IsWritable(const FusedLayer& layer, const Integers& summand);

  // `op` of 8-bit numbers, in place of `node`.
  Integers Moved(const Node& node, const char* op,
                 const std::vector<Integers>& inputs);
  // An operator of one output.
  Value Plain(const char* op, std::vector<Value> inputs,
              const std::string& name);

 private:
  using Texts = std::vector<std::pair<std::string, std::string>>;
  Node* Add(const std::string& op, const std::string& name,
            std::vector<Value> inputs, int outputs, const Texts& attributes);
  Node* AddLayer(const FusedLayer& layer, const Integers& data,
                 const Integers* summand, const std::string& name, int outputs,
                 Texts attributes);

  Graph& graph_;
};

}  // namespace mxc
