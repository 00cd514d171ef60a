// SPDX-License-Identifier: Apache-2.0
// The handle of mxc_graph.h for tests.
#pragma once

#include <string>
#include <vector>

#include "tests/ndarray/handles.h"
#include "tools/imperative/mxc_graph.h"

namespace mxc::test {

class NetworkHandle {
 public:
  using Types = std::vector<mxc_partial_type>;

  explicit NetworkHandle(const std::string& json) {
    Expect(mxc_graph_read(json.c_str(), &graph_));
  }
  NetworkHandle(const NetworkHandle&) = delete;
  NetworkHandle& operator=(const NetworkHandle&) = delete;
  ~NetworkHandle() { mxc_graph_release(graph_); }

  mxc_graph* get() const { return graph_; }
  std::vector<std::string> Names(mxc_graph_list list) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < mxc_graph_count(graph_, list); ++i) {
      names.emplace_back(mxc_graph_name(graph_, list, i));
    }
    return names;
  }

  mxc_status* Call(const std::vector<mxc_ndarray*>& inputs,
                   std::vector<mxc_ndarray*>& outputs, bool training) const {
    return mxc_graph_call(graph_, inputs.data(), inputs.size(), outputs.data(),
                          outputs.size(), training ? 1 : 0);
  }
  std::vector<NDArray> Call(const std::vector<mxc_ndarray*>& inputs,
                            bool training) const {
    std::vector<mxc_ndarray*> outputs(
        mxc_graph_count(graph_, MXC_GRAPH_OUTPUTS));
    Expect(Call(inputs, outputs, training));
    std::vector<NDArray> owned;
    for (mxc_ndarray* output : outputs) owned.push_back(Own(output));
    return owned;
  }

  mxc_status* Infer(Types& inputs, Types& outputs, bool partial) const {
    outputs.resize(mxc_graph_count(graph_, MXC_GRAPH_OUTPUTS));
    return mxc_graph_infer(graph_, inputs.data(), inputs.size(), outputs.data(),
                           outputs.size(), partial ? 1 : 0);
  }
  // "0[2,3] ?[2,0] ??"
  static std::string Text(const Types& types) {
    std::string text;
    for (const mxc_partial_type& type : types) {
      if (!text.empty()) text += " ";
      text += type.dtype < 0 ? "?" : std::to_string(type.dtype);
      if (type.rank < 0) {
        text += "?";
        continue;
      }
      text += "[";
      for (int axis = 0; axis < type.rank; ++axis) {
        text += (axis == 0 ? "" : ",") + std::to_string(type.dims[axis]);
      }
      text += "]";
    }
    return text;
  }

 private:
  mxc_graph* graph_ = nullptr;
};

}  // namespace mxc::test
