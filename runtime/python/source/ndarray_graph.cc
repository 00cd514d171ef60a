// SPDX-License-Identifier: Apache-2.0
// Of the module mxc._ndarray: networks that are called like operators.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "runtime/python/source/ndarray.h"
#include "tools/imperative/mxc_graph.h"

namespace mxc::python {
namespace {

mxc_graph* Read(const std::string& symbol_json) {
  mxc_graph* read = nullptr;
  WithoutGil([&] { return mxc_graph_read(symbol_json.c_str(), &read); });
  return read;
}

std::vector<std::string> NamesOf(const mxc_graph* graph, mxc_graph_list list) {
  std::vector<std::string> names;
  for (size_t i = 0; i < mxc_graph_count(graph, list); ++i) {
    names.emplace_back(mxc_graph_name(graph, list, i));
  }
  return names;
}

// () where nothing is known of it, 0 an extent that is not.
nb::tuple ShapeOf(const mxc_partial_type& type) {
  nb::list dims;
  for (int32_t axis = 0; axis < type.rank; ++axis) dims.append(type.dims[axis]);
  return nb::tuple(dims);
}

nb::object DtypeNameOf(const mxc_partial_type& type) {
  if (type.dtype < 0) return nb::none();
  return nb::str(mxc_dtype_name(static_cast<mxc_dtype>(type.dtype)));
}

mxc_partial_type Unknown() { return {.dtype = -1, .rank = -1, .dims = {}}; }

void SetShape(const std::vector<int64_t>& dims, mxc_partial_type& type) {
  if (dims.size() > MXC_GRAPH_AXES) {
    Raise(PyExc_ValueError,
          "a shape has at most " + std::to_string(MXC_GRAPH_AXES) + " axes");
  }
  type.rank = static_cast<int32_t>(dims.size());
  std::ranges::copy(dims, type.dims);
}

class GraphHandle {
 public:
  explicit GraphHandle(const std::string& symbol_json)
      : graph_(Read(symbol_json)),
        arguments_(NamesOf(graph_.get(), MXC_GRAPH_ARGUMENTS)),
        auxiliary_(NamesOf(graph_.get(), MXC_GRAPH_AUXILIARY)),
        outputs_(NamesOf(graph_.get(), MXC_GRAPH_OUTPUTS)) {}

  const std::vector<std::string>& arguments() const { return arguments_; }
  const std::vector<std::string>& auxiliary() const { return auxiliary_; }
  const std::vector<std::string>& outputs() const { return outputs_; }

  nb::tuple Infer(const nb::dict& shapes, const nb::dict& dtypes,
                  bool partial) const {
    std::vector<mxc_partial_type> inputs(arguments_.size() + auxiliary_.size(),
                                         Unknown());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const nb::str name = nb::str(InputName(i).c_str());
      if (shapes.contains(name)) {
        SetShape(nb::cast<std::vector<int64_t>>(shapes[name]), inputs[i]);
      }
      if (dtypes.contains(name)) {
        inputs[i].dtype = DtypeOf(nb::cast<std::string>(dtypes[name]));
      }
    }
    std::vector<mxc_partial_type> outputs(outputs_.size(), Unknown());
    WithoutGil([&] {
      return mxc_graph_infer(graph_.get(), inputs.data(), inputs.size(),
                             outputs.data(), outputs.size(), partial ? 1 : 0);
    });
    return Told(inputs, outputs);
  }

  nb::list Call(const nb::list& inputs, bool training,
                const nb::object& outputs) {
    const std::vector<mxc_ndarray*> given = HandlesOf(inputs, false);
    std::vector<mxc_ndarray*> results =
        outputs.is_none() ? std::vector<mxc_ndarray*>(outputs_.size())
                          : HandlesOf(outputs, true);
    TellLine();
    WithoutGil([&] {
      return mxc_graph_call(graph_.get(), given.data(), given.size(),
                            results.data(), results.size(), training ? 1 : 0);
    });
    return ResultsIn(results, outputs);
  }

 private:
  const std::string& InputName(size_t i) const {
    return i < arguments_.size() ? arguments_[i]
                                 : auxiliary_[i - arguments_.size()];
  }

  nb::tuple Told(const std::vector<mxc_partial_type>& inputs,
                 const std::vector<mxc_partial_type>& outputs) const {
    nb::dict shapes;
    nb::dict dtypes;
    for (size_t i = 0; i < inputs.size(); ++i) {
      shapes[InputName(i).c_str()] = ShapeOf(inputs[i]);
      dtypes[InputName(i).c_str()] = DtypeNameOf(inputs[i]);
    }
    nb::list output_shapes;
    nb::list output_dtypes;
    for (const mxc_partial_type& output : outputs) {
      output_shapes.append(ShapeOf(output));
      output_dtypes.append(DtypeNameOf(output));
    }
    return nb::make_tuple(shapes, dtypes, output_shapes, output_dtypes);
  }

  struct Release {
    void operator()(mxc_graph* graph) const { mxc_graph_release(graph); }
  };
  std::unique_ptr<mxc_graph, Release> graph_;
  std::vector<std::string> arguments_, auxiliary_, outputs_;
};

}  // namespace

void DeclareGraph(nb::module_& m) {
  nb::class_<GraphHandle>(m, "Graph",
                          "A network that is called like an "
                          "operator.")
      .def(nb::init<const std::string&>(), nb::arg("symbol_json"),
           "Of MXNet's symbol JSON, of any version.")
      .def_prop_ro("arguments", &GraphHandle::arguments,
                   "The names of its variables that no operator updates.")
      .def_prop_ro("auxiliary", &GraphHandle::auxiliary,
                   "The names of those that an operator updates.")
      .def_prop_ro("outputs", &GraphHandle::outputs, "The outputs' names.")
      .def("infer", &GraphHandle::Infer, nb::arg("shapes"), nb::arg("dtypes"),
           nb::arg("partial"),
           nb::sig("def infer(self, shapes: dict[str, tuple[int, ...]], "
                   "dtypes: dict[str, str], partial: bool) -> "
                   "tuple[dict[str, tuple[int, ...]], dict[str, str | None], "
                   "list[tuple[int, ...]], list[str | None]]"),
           "Shapes and types of variables and outputs, from those of some "
           "variables: 0 is an extent that does not follow, () a shape, None a "
           "type; without `partial` these are an error.")
      .def("call", &GraphHandle::Call, nb::arg("inputs"), nb::arg("training"),
           nb::arg("outputs").none() = nb::none(),
           nb::sig("def call(self, inputs: list[Array], training: bool, "
                   "outputs: list[Array | None] | None = None) -> list[Array]"),
           "`inputs`: arguments, then auxiliary states, which a call in "
           "training writes. `outputs`: as of Operator.call. Returns before it "
           "has run.");
}

}  // namespace mxc::python
