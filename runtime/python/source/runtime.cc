// SPDX-License-Identifier: Apache-2.0
// The module mxc._runtime: artifacts are opened and run.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "runtime/python/source/error.h"
#include "runtime/python/source/model.h"
#include "runtime/python/source/training.h"

namespace mxc::python {
namespace {

// One array, or a tuple where there are several outputs: the caller knows which.
constexpr const char* kCall =
    "def __call__(self, *arrays: object, **named: object) -> typing.Any";

std::string TensorText(const Tensor& tensor) {
  return "Tensor('" + tensor.name + "', " + tensor.dtype + ", " +
         nb::str(tensor.shape).c_str() + ", " + tensor.use + ")";
}

void DeclareRows(nb::module_& m) {
  nb::class_<Tensor>(m, "Tensor", "An input, an output or a state.")
      .def_ro("name", &Tensor::name, "\"data\", \"fc1_weight\"")
      .def_ro("dtype", &Tensor::dtype, "as NumPy names it: \"float32\"")
      .def_ro("shape", &Tensor::shape,
              nb::for_getter(nb::sig("def shape(self) -> tuple[int, ...]")),
              "of a whole batch: (32, 1, 28, 28)")
      .def_ro("use", &Tensor::use,
              "\"data\", \"label\", \"rate\", \"loss\", \"parameter\" …")
      .def_ro("of", &Tensor::of,
              "the state whose gradient, norm or rows it is; \"\": none's")
      .def_ro("open_axis", &Tensor::open_axis,
              "the first axis along which arrays may be shorter; -1: none")
      .def_ro("open_axes", &Tensor::open_axes,
              nb::for_getter(nb::sig("def open_axes(self) -> dict[int, str]")),
              "all of them, with the names of their lengths: {1: \"T\"}; \"\": "
              "of the only one")
      .def("__repr__", &TensorText);
  nb::class_<Entry>(m, "Entry", "What a model can do, for fixed shapes.")
      .def_ro("name", &Entry::name, "\"infer\", \"train\", \"score\"")
      .def_ro("purpose", &Entry::purpose,
              "\"infer\", \"train\", \"score\", \"grad\", \"update\" or "
              "\"other\"")
      .def_ro("of", &Entry::of, "the state that it updates; \"\": none")
      .def_ro("batch", &Entry::batch, "samples that it takes at once")
      .def_ro("length", &Entry::length,
              "of the sequences that it is for, or the greatest one where axes "
              "are open; 0: any, or several")
      .def_ro("lengths", &Entry::lengths,
              nb::for_getter(nb::sig("def lengths(self) -> dict[str, int]")),
              "the greatest of each length that axes leave open, by name: "
              "{\"S\": 512, \"T\": 128}; \"\": the only one")
      .def_ro("activation_bytes", &Entry::activation_bytes,
              "internal tensors and outputs at their peak, in bytes")
      .def_ro("inputs", &Entry::inputs, "in the order of a call's arguments")
      .def_ro("outputs", &Entry::outputs,
              "in the order in which it returns them")
      .def("__repr__", [](const Entry& entry) {
        return "Entry('" + entry.name + "', batch " +
               std::to_string(entry.batch) + ")";
      });
}

void DeclareExecutor(nb::module_& m) {
  nb::class_<Executor>(
      m, "Executor",
      "One entry with memory of its own; it serves one thread at a time.")
      .def(
          "__init__",
          [](Executor* executor, const Model& model, const std::string& entry,
             int64_t batch, int threads, Executor* share,
             const std::string& device, uintptr_t stream) {
            new (executor)
                Executor(model.handle(),
                         {entry, device.empty() ? model.device() : device,
                          batch, threads, stream},
                         share);
          },
          nb::arg("model"), nb::arg("entry") = "", nb::arg("batch") = 0,
          nb::arg("threads") = 0, nb::arg("share").none() = nb::none(),
          nb::arg("device") = "", nb::arg("stream") = 0, nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 6>())
      .def("__call__", &Executor::Call, nb::sig(kCall),
           "Runs the entry on arrays (or numbers, where one is wanted), by "
           "position or by name, and returns a new array, or a tuple where "
           "there are several outputs. Inputs are read where they lie.")
      .def("read_state", &Executor::ReadState, nb::arg("name"),
           nb::sig("def read_state(self, name: str) -> "
                   "numpy.typing.NDArray[typing.Any]"),
           "A copy.")
      .def("write_state", &Executor::WriteState, nb::arg("name"),
           nb::arg("values"), "From an array of the state's shape and type.")
      .def("reset_states", &Executor::ResetStates,
           "All states become what the file says.");
}

void DeclareModel(nb::module_& m) {
  nb::class_<Model>(m, "Model", "An opened artifact.")
      .def(nb::init<const std::string&, int, bool, bool, std::string>(),
           nb::arg("path"), nb::arg("threads") = 0,
           nb::arg("check_weights") = true, nb::arg("copy_weights") = false,
           nb::arg("device") = "")
      .def(nb::init<nb::bytes, int, bool, bool, std::string>(), nb::arg("file"),
           nb::arg("threads") = 0, nb::arg("check_weights") = true,
           nb::arg("copy_weights") = false, nb::arg("device") = "")
      .def_prop_ro("entries", &Model::entries,
                   "what it can do, each for its own batch")
      .def_prop_ro("states", &Model::states,
                   "what training changes: parameters, what the network itself "
                   "computes, the optimizer's; [] of a model for inference")
      .def_prop_ro("manifest_text", &Model::manifest,
                   "what the file says of itself, lines of \"key: value\"")
      .def_prop_ro("symbol", &Model::symbol, "the network's JSON as it came")
      .def("__call__", &Model::Call, nb::sig(kCall),
           "Runs the entry \"infer\" whose inputs have the arguments' shapes. "
           "Threads may call at once: each gets an executor.");
}

void DeclareTraining(nb::module_& m) {
  nb::class_<TrainingSamples>(
      m, "TrainingSamples", "Arrays by name, whose first axis counts samples.")
      .def(nb::init<>())
      .def(
          "add",
          [](TrainingSamples& samples, const std::string& name,
             TrainingSamples::ReadArray array, bool label) {
            (label ? samples.labels : samples.data)
                .emplace_back(name, std::move(array));
          },
          nb::arg("name"), nb::arg("array"), nb::arg("label"),
          nb::sig("def add(self, name: str, array: object, label: bool) -> "
                  "None"));
  nb::class_<Training>(m, "Training", "A run of training.")
      .def(
          "__init__",
          [](Training* training, const Model& model, Executor* share,
             const std::vector<std::pair<std::string, std::string>>& settings,
             const TrainingSamples* samples, const TrainingSamples* validation,
             nb::dict calls) {
            TrainingCalls given{calls["learning_rate"], calls["wants_step"],
                                calls["on_step"],       calls["on_epoch"],
                                calls["say"],           {}};
            for (const auto& [name, function] :
                 nb::cast<nb::dict>(calls["metrics"])) {
              given.metrics.emplace_back(nb::cast<std::string>(name),
                                         nb::borrow(function));
            }
            new (training) Training(model.handle(), share, settings, samples,
                                    validation, std::move(given));
          },
          nb::arg("model"), nb::arg("share").none(), nb::arg("settings"),
          nb::arg("samples").none(), nb::arg("validation").none(),
          nb::arg("calls"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(),
          nb::sig("def __init__(self, model: Model, share: Executor | None, "
                  "settings: list[tuple[str, str]], "
                  "samples: TrainingSamples | None, "
                  "validation: TrainingSamples | None, "
                  "calls: dict[str, typing.Any]) -> None"))
      .def("fit", &Training::Fit,
           nb::sig("def fit(self) -> dict[str, typing.Any]"),
           "\"steps\", \"epochs\", \"interrupted\", \"diverged\".")
      .def("read_state", &Training::ReadState, nb::arg("name"), nb::arg("size"),
           "Its bytes, so many.")
      .def("write_state", &Training::WriteState, nb::arg("name"),
           nb::arg("values"))
      .def("read_average", &Training::ReadAverage, nb::arg("name"),
           nb::arg("elements"), "The bytes of float32 values.")
      .def_prop_ro("speaks", &Training::speaks,
                   "whether this process speaks for all of its job")
      .def_prop_ro("serves", &Training::serves,
                   "whether this process is a server of its job");
  m.def("training_settings", &mxc_trainer_settings, "A line for each setting.");
}

}  // namespace

}  // namespace mxc::python

NB_MODULE(_runtime, m) {
  // Threads that run when the interpreter ends keep what they use.
  nanobind::set_leak_warnings(false);
  m.attr("version") = mxc_version();
  mxc::python::DeclareRows(m);
  mxc::python::DeclareModel(m);
  mxc::python::DeclareExecutor(m);
  mxc::python::DeclareTraining(m);
}
