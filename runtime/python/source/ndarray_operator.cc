// SPDX-License-Identifier: Apache-2.0
// Of the module mxc._ndarray: operators, and the table of them.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/python/source/ndarray.h"

namespace mxc::python {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

// Attributes as the C API takes them.
class Texts {
 public:
  explicit Texts(const Attributes& attributes) {
    for (const auto& [name, value] : attributes) {
      names_.push_back(name.c_str());
      values_.push_back(value.c_str());
    }
  }
  const char* const* names() const { return names_.data(); }
  const char* const* values() const { return values_.data(); }
  size_t count() const { return names_.size(); }

 private:
  std::vector<const char*> names_, values_;
};

class OperatorHandle {
 public:
  OperatorHandle(const std::string& name, const Attributes& attributes)
      : name_(name), attributes_(attributes) {
    const Texts texts(attributes_);
    mxc_ndarray_op* found = nullptr;
    Check(mxc_ndarray_op_find(name.c_str(), texts.names(), texts.values(),
                              texts.count(), &found));
    handle_.reset(found);
  }

  nb::list Call(const nb::list& inputs, const nb::object& outputs,
                bool training) {
    const std::vector<mxc_ndarray*> given = HandlesOf(inputs, false);
    const bool asked = !outputs.is_none();
    std::vector<mxc_ndarray*> results =
        asked ? HandlesOf(outputs, true)
              : std::vector<mxc_ndarray*>(OutputCount(given.size()));
    TellLine();
    WithoutGil([&] {
      return mxc_ndarray_op_call(handle_.get(), given.data(), given.size(),
                                 results.data(), results.size(),
                                 training ? 1 : 0);
    });
    return ResultsIn(results, outputs);
  }

 private:
  // Operators of any number of inputs may have as many outputs.
  size_t OutputCount(size_t inputs) {
    if (outputs_ == 0 || inputs != inputs_) {
      const Texts texts(attributes_);
      const char* json = nullptr;
      Check(mxc_ndarray_op_signature(name_.c_str(), texts.names(),
                                     texts.values(), texts.count(), inputs,
                                     &json, &outputs_));
      inputs_ = inputs;
    }
    return outputs_;
  }

  const std::string name_;
  const Attributes attributes_;
  size_t inputs_ = 0, outputs_ = 0;  // what the last call had
  struct Release {
    void operator()(mxc_ndarray_op* op) const { mxc_ndarray_op_release(op); }
  };
  std::unique_ptr<mxc_ndarray_op, Release> handle_;
};

std::string TextOf(const nb::object& object) { return nb::str(object).c_str(); }

// Of a frame: "train.py:12"; empty in this package and in libraries.
std::string LineOf(const nb::object& frame) {
  const nb::object globals = frame.attr("f_globals");
  const std::string module = TextOf(globals.attr("get")("__name__"));
  if (module == "mxc" || module.starts_with("mxc.")) return "";
  const nb::object code = frame.attr("f_code");
  const std::string file = TextOf(code.attr("co_filename"));
  // "<frozen runpy>" runs the program.
  if (file.starts_with("<frozen")) return "";
  if (file.find("/lib/python3.") != std::string::npos) return "";
  return file.substr(file.rfind('/') + 1) + ":" +
         TextOf(frame.attr("f_lineno"));
}

}  // namespace

void TellLine() {
  if (mxc_ndarray_asks_for_line() == 0) return;
  std::string line;
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid() && !frame.is_none() && line.empty()) {
    line = LineOf(frame);
    frame = frame.attr("f_back");
  }
  mxc_ndarray_set_line(line.c_str());
}

void DeclareOperator(nb::module_& m) {
  nb::class_<OperatorHandle>(m, "Operator", "An operator with its attributes.")
      .def(nb::init<const std::string&, const Attributes&>(), nb::arg("name"),
           nb::arg("attributes"),
           "Raises Error for an operator that there is not, and for attributes "
           "that it does not take. Attributes as MXNet writes them.")
      .def("call", &OperatorHandle::Call, nb::arg("inputs"),
           nb::arg("outputs").none() = nb::none(), nb::arg("training") = false,
           nb::sig("def call(self, inputs: list[Array], "
                   "outputs: list[Array | None] | None = None, "
                   "training: bool = False) -> list[Array]"),
           "Returns before it has run. `outputs`: None for a new array, else "
           "the one that is written; fewer than it has: the others are "
           "dropped.");
  m.def("operators_json", &mxc_ndarray_ops,
        "The table of operators as `mxc ops --json` prints it.");
  m.def(
      "signature_json",
      [](const std::string& name, const Attributes& attributes, size_t inputs) {
        const Texts texts(attributes);
        const char* json = nullptr;
        Check(mxc_ndarray_op_signature(name.c_str(), texts.names(),
                                       texts.values(), texts.count(), inputs,
                                       &json, nullptr));
        return std::string(json);
      },
      nb::arg("name"), nb::arg("attributes"), nb::arg("inputs") = 1,
      "What an operator with these attributes takes and gives: \"inputs\" "
      "(\"name\", \"kind\"), \"outputs\", \"visible_outputs\".");
  m.def(
      "explain_json",
      [] {
        const char* json = nullptr;
        WithoutGil([&] { return mxc_ndarray_explain(&json); });
        return std::string(json);
      },
      "What became of calls that came again and again (mxc_ndarray_explain).");
  m.def(
      "seed",
      [](uint64_t seed) { WithoutGil([&] { return mxc_ndarray_seed(seed); }); },
      nb::arg("seed"),
      "What operators draw from now on follows from it and from their order.");
  m.def(
      "wait_all", [] { WithoutGil([] { return mxc_ndarray_wait_all(); }); },
      "Until nothing is left to do; raises what went wrong and nobody was "
      "told.");
}

}  // namespace mxc::python
