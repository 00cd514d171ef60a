// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/mxc_graph.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/tensor.h"
#include "tools/imperative/handles.h"
#include "tools/imperative/network_function.h"

using mxc::DType;
using mxc::NetworkFunction;
using mxc::Shape;
using mxc::TensorType;
using mxc::runtime::CallableOperator;
using mxc::runtime::Guarded;
using mxc::runtime::Imperative;
using mxc::runtime::NDArray;
using mxc::runtime::NeededArray;
using mxc::runtime::Status;
using mxc::runtime::StatusCode;
using mxc::runtime::StatusOr;

struct mxc_graph {
  std::shared_ptr<const NetworkFunction> network;
  std::shared_ptr<CallableOperator> op;
};

static_assert(MXC_GRAPH_AXES == MXC_MAX_RANK);

namespace {

const std::vector<std::string>& NamesOf(const mxc_graph& graph,
                                        mxc_graph_list list) {
  switch (list) {
    case MXC_GRAPH_ARGUMENTS:
      return graph.network->arguments();
    case MXC_GRAPH_AUXILIARY:
      return graph.network->auxiliary();
    case MXC_GRAPH_OUTPUTS:
      return graph.network->outputs();
  }
  static const std::vector<std::string> none;
  return none;
}

StatusOr<TensorType> TypeOf(const mxc_partial_type& from, size_t input) {
  TensorType type;
  if (from.dtype >= 0) {
    type.dtype = mxc::DTypeFromFlag(from.dtype).value_or(DType::kUnknown);
    if (type.dtype == DType::kUnknown) {
      return Fail(StatusCode::kInvalidArgument,
                  "input %zu: there is no element type %d", input, from.dtype);
    }
  }
  if (from.rank > MXC_GRAPH_AXES) {
    return Fail(StatusCode::kInvalidArgument,
                "input %zu has %d axes, at most %d are possible", input,
                from.rank, MXC_GRAPH_AXES);
  }
  if (from.rank < 0) return type;
  mxc::Extents dims(from.dims, from.dims + from.rank);
  for (int64_t& dim : dims) {
    if (dim < 0) {
      return Fail(StatusCode::kInvalidArgument,
                  "input %zu has an extent of %lld", input,
                  static_cast<long long>(dim));
    }
    if (dim == 0) dim = Shape::kUnknownDim;
  }
  type.shape = Shape(std::move(dims));
  return type;
}

mxc_partial_type PartialType(const TensorType& type) {
  mxc_partial_type to = {-1, -1, {}};
  if (type.dtype != DType::kUnknown) to.dtype = static_cast<int>(type.dtype);
  if (!type.shape.known_rank()) return to;
  to.rank = type.shape.rank();
  for (int axis = 0; axis < to.rank; ++axis) {
    to.dims[axis] = type.shape.known(axis) ? type.shape[axis] : 0;
  }
  return to;
}

}  // namespace

mxc_status* mxc_graph_read(const char* symbol_json, mxc_graph** graph) {
  return Guarded(
      {{symbol_json, "symbol_json"}, {graph, "graph"}}, [&]() -> Status {
        MXC_RT_ASSIGN(auto network,
                      mxc::InStatus(NetworkFunction::Read(symbol_json)));
        auto op = mxc::CallableOf(network);
        *graph = new mxc_graph{std::move(network), std::move(op)};
        return {};
      });
}

void mxc_graph_release(mxc_graph* graph) { delete graph; }

size_t mxc_graph_count(const mxc_graph* graph, mxc_graph_list list) {
  return graph == nullptr ? 0 : NamesOf(*graph, list).size();
}

const char* mxc_graph_name(const mxc_graph* graph, mxc_graph_list list,
                           size_t index) {
  if (index >= mxc_graph_count(graph, list)) return nullptr;
  return NamesOf(*graph, list)[index].c_str();
}

mxc_status* mxc_graph_infer(const mxc_graph* graph, mxc_partial_type* inputs,
                            size_t input_count, mxc_partial_type* outputs,
                            size_t output_count, int partial) {
  return Guarded(
      {{graph, "graph"},
       NeededArray(inputs, input_count, "inputs"),
       NeededArray(outputs, output_count, "outputs")},
      [&]() -> Status {
        const NetworkFunction& network = *graph->network;
        const size_t wanted =
            network.arguments().size() + network.auxiliary().size();
        if (input_count != wanted || output_count != network.outputs().size()) {
          return Fail(StatusCode::kInvalidArgument,
                      "%zu inputs and %zu outputs are given, expected %zu and "
                      "%zu",
                      input_count, output_count, wanted,
                      network.outputs().size());
        }
        std::vector<TensorType> types;
        for (size_t i = 0; i < input_count; ++i) {
          MXC_RT_ASSIGN(types.emplace_back(), TypeOf(inputs[i], i));
        }
        MXC_RT_ASSIGN(const std::vector<TensorType> inferred,
                      mxc::InStatus(network.Infer(types, partial != 0)));
        std::transform(types.begin(), types.end(), inputs, PartialType);
        std::transform(inferred.begin(), inferred.end(), outputs, PartialType);
        return {};
      });
}

mxc_status* mxc_graph_call(mxc_graph* graph, mxc_ndarray* const* inputs,
                           size_t input_count, mxc_ndarray** outputs,
                           size_t output_count, int training) {
  return Guarded({{graph, "graph"},
                  NeededArray(inputs, input_count, "inputs"),
                  NeededArray(outputs, output_count, "outputs")},
                 [&] {
                   return mxc::CallWithHandles(graph->op, inputs, input_count,
                                               outputs, output_count,
                                               training != 0);
                 });
}
