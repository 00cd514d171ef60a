// SPDX-License-Identifier: Apache-2.0
// Of the module mxc._ndarray: gradients of what was called.
#include <nanobind/stl/string.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/python/source/ndarray.h"
#include "tools/imperative/mxc_autograd.h"

namespace mxc::python {
namespace {

// What a function of the user's own has raised, on its way through C.
thread_local std::optional<nb::python_error> raised;

template <class Call>
void WithoutGilOrRaised(Call call) {
  mxc_status* status = nullptr;
  {
    const GilReleased released;
    status = call();
  }
  if (status != nullptr && raised) {
    mxc_status_release(status);
    nb::python_error error = std::move(*raised);
    raised.reset();
    throw error;
  }
  Check(status);
}

nb::object Another(const mxc_ndarray* array) {
  mxc_ndarray* handle = nullptr;
  Check(mxc_ndarray_another(array, &handle));
  return nb::cast(ArrayHandle(handle));
}

void CallBackward(const nb::callable& backward,
                  std::span<mxc_ndarray* const> heads,
                  std::span<mxc_ndarray*> gradients) {
  nb::list given;
  for (const mxc_ndarray* head : heads) given.append(Another(head));
  const nb::object result = backward(given);
  const std::vector<mxc_ndarray*> handles = HandlesOf(result, true);
  if (handles.size() != gradients.size()) {
    Raise(PyExc_ValueError, "a function's gradient gives " +
                                std::to_string(handles.size()) +
                                " arrays, expected one for each of its " +
                                std::to_string(gradients.size()) + " inputs");
  }
  for (size_t i = 0; i < handles.size(); ++i) {
    if (handles[i] == nullptr) continue;
    Check(mxc_ndarray_another(handles[i], &gradients[i]));
  }
}

// As mxc_autograd_function; `user` is a Python object.
mxc_status* Backward(void* user, mxc_ndarray* const* head_gradients,
                     size_t output_count, mxc_ndarray** input_gradients,
                     size_t input_count) {
  const GilTaken taken;
  try {
    CallBackward(nb::borrow<nb::callable>(static_cast<PyObject*>(user)),
                 {head_gradients, output_count},
                 {input_gradients, input_count});
    return nullptr;
  } catch (nb::python_error& error) {
    raised.emplace(error);
    return mxc_autograd_failure("a function's gradient has raised an error");
  } catch (const std::exception& error) {
    return mxc_autograd_failure(error.what());
  }
}

void Release(void* user) {
  const GilTaken taken;
  Py_DECREF(static_cast<PyObject*>(user));
}

mxc_gradient_request RequestOf(const std::string& name) {
  if (name == "write") return MXC_GRADIENT_WRITE;
  if (name == "add") return MXC_GRADIENT_ADD;
  if (name == "null") return MXC_GRADIENT_NULL;
  Raise(PyExc_ValueError, "a gradient is asked for by \"" + name +
                              "\", expected \"write\", \"add\" or \"null\"");
}

void RequireOneEach(const std::vector<mxc_ndarray*>& heads,
                    const std::vector<mxc_ndarray*>& gradients) {
  if (heads.size() == gradients.size()) return;
  Raise(PyExc_ValueError, std::to_string(heads.size()) + " heads have " +
                              std::to_string(gradients.size()) + " gradients");
}

nb::list Gradient(const nb::list& heads, const nb::list& variables,
                  const nb::list& head_grads, bool retain_graph,
                  bool create_graph, bool /*train*/) {
  const auto from = HandlesOf(heads, false), to = HandlesOf(variables, false),
             given = HandlesOf(head_grads, true);
  RequireOneEach(from, given);
  std::vector<mxc_ndarray*> made(to.size());
  WithoutGilOrRaised([&] {
    return mxc_autograd_gradient(from.data(), given.data(), from.size(),
                                 to.data(), to.size(), retain_graph ? 1 : 0,
                                 create_graph ? 1 : 0, made.data());
  });
  nb::list gradients;
  for (mxc_ndarray* one : made) gradients.append(ArrayHandle(one));
  return gradients;
}

void DeclareFlags(nb::module_& m) {
  m.def(
      "set_recording",
      [](bool on) { return mxc_autograd_set_recording(on ? 1 : 0) != 0; },
      nb::arg("on"), "Of this thread; what it was before.");
  m.def(
      "set_training",
      [](bool on) { return mxc_autograd_set_training(on ? 1 : 0) != 0; },
      nb::arg("on"), "Of this thread; what it was before.");
  m.def("is_recording", [] { return mxc_autograd_is_recording() != 0; });
  m.def("is_training", [] { return mxc_autograd_is_training() != 0; });
}

}  // namespace

void DeclareAutograd(nb::module_& m) {
  DeclareFlags(m);
  m.def(
      "mark",
      [](const ArrayHandle& array, const ArrayHandle& gradient,
         const std::string& request) {
        Check(
            mxc_autograd_mark(array.get(), gradient.get(), RequestOf(request)));
      },
      nb::arg("array"), nb::arg("gradient"), nb::arg("request"),
      "Makes the array a variable whose gradient is written or added to "
      "another (\"write\", \"add\"), or a constant (\"null\").");
  m.def(
      "is_recorded",
      [](const ArrayHandle& array) {
        return mxc_autograd_is_recorded(array.get()) != 0;
      },
      nb::arg("array"), "Whether it is a variable or was computed from one.");
  m.def(
      "is_fresh",
      [](const ArrayHandle& array) {
        return mxc_autograd_is_fresh(array.get()) != 0;
      },
      nb::arg("array"),
      "Whether a backward call has computed the variable's gradient since it "
      "was marked, or set_fresh was called.");
  m.def(
      "set_fresh",
      [](const ArrayHandle& array, bool fresh) {
        mxc_autograd_set_fresh(array.get(), fresh ? 1 : 0);
      },
      nb::arg("array"), nb::arg("fresh"));
  m.def(
      "detach",
      [](const ArrayHandle& array) {
        mxc_ndarray* view = nullptr;
        Check(mxc_ndarray_detach(array.get(), &view));
        return ArrayHandle(view);
      },
      nb::arg("array"), "The same memory as a constant.");
  m.def(
      "backward",
      [](const nb::list& heads, const nb::list& head_grads, bool retain_graph,
         bool /*train*/) {
        const auto from = HandlesOf(heads, false),
                   given = HandlesOf(head_grads, true);
        RequireOneEach(from, given);
        TellLine();
        WithoutGilOrRaised([&] {
          return mxc_autograd_backward(from.data(), given.data(), from.size(),
                                       retain_graph ? 1 : 0);
        });
      },
      nb::arg("heads"), nb::arg("head_grads"), nb::arg("retain_graph") = false,
      nb::arg("train") = true,
      nb::sig("def backward(heads: list[Array], "
              "head_grads: list[Array | None], retain_graph: bool = False, "
              "train: bool = True) -> None"),
      "Into the gradient arrays of all variables that the heads were computed "
      "from; `head_grads`: None for ones. Each call is differentiated in the "
      "mode in which it was recorded, whatever `train` says.");
  m.def("gradient", &Gradient, nb::arg("heads"), nb::arg("variables"),
        nb::arg("head_grads"), nb::arg("retain_graph") = false,
        nb::arg("create_graph") = false, nb::arg("train") = true,
        nb::sig("def gradient(heads: list[Array], variables: list[Array], "
                "head_grads: list[Array | None], retain_graph: bool = False, "
                "create_graph: bool = False, train: bool = True) "
                "-> list[Array]"),
        "The same as new arrays, of these alone; `create_graph`: recorded.");
  m.def(
      "record_function",
      [](const nb::list& inputs, const nb::list& outputs,
         const nb::callable& backward) {
        const auto read = HandlesOf(inputs, false),
                   given = HandlesOf(outputs, false);
        Check(mxc_autograd_record(
            read.data(), read.size(), given.data(), given.size(), Backward,
            nb::object(backward).release().ptr(), Release));
      },
      nb::arg("inputs"), nb::arg("outputs"), nb::arg("backward"),
      nb::sig("def record_function(inputs: list[Array], outputs: list[Array], "
              "backward: collections.abc.Callable[[list[Array]], "
              "list[Array | None]]) -> None"),
      "Notes, while the thread records, that the outputs were computed from "
      "the inputs; `backward` gives the inputs' gradients from the outputs', "
      "in the thread that asks for them.");
}

}  // namespace mxc::python
