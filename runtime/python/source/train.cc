// SPDX-License-Identifier: Apache-2.0
// The module mxc._train: what runtime/train and runtime/data know of learning
// rates, metrics, files of parameters, data and pictures, with Python's types.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "runtime/data/label_names.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/python/source/gil.h"
#include "runtime/python/source/named_arrays.h"
#include "runtime/python/source/pictures.h"
#include "runtime/python/source/samples.h"
#include "runtime/train/floats.h"
#include "runtime/train/metric.h"
#include "runtime/train/read_parameters.h"
#include "runtime/train/scheduler.h"

namespace mxc::python {
namespace {

class Schedule {
 public:
  Schedule(const std::string& text, std::optional<double> rate)
      : schedule_(Take(train::ParseSchedule(text, rate))) {}

  double At(int64_t update) { return schedule_->At(update); }

 private:
  std::unique_ptr<train::Scheduler> schedule_;
};

// An array's elements as floats, in its own memory where they are.
class Floats {
 public:
  explicit Floats(const InputArray& array) {
    const auto type = ElementTypeOf(array);
    view_.shape = ShapeOf(array);
    if (type == runtime::ElementType::kF32) {
      view_.values = {static_cast<const float*>(array.data()), array.size()};
      return;
    }
    values_.resize(array.size());
    train::ToFloats(type, BytesOf(array), values_);
    view_.values = values_;
  }
  Floats(Floats&&) = default;

  const train::FloatView& view() const { return view_; }

 private:
  std::vector<float> values_;
  train::FloatView view_;
};

std::vector<train::FloatView> ViewsOf(const std::vector<Floats>& arrays) {
  std::vector<train::FloatView> views;
  for (const Floats& array : arrays) views.push_back(array.view());
  return views;
}

class Metrics {
 public:
  explicit Metrics(const std::string& text)
      : metrics_(Take(train::MetricList::Parse(text))) {}
  Metrics(const Metrics&) = delete;

  void Update(const std::vector<InputArray>& labels,
              const std::vector<InputArray>& outputs) {
    const std::vector<Floats> expected(labels.begin(), labels.end());
    const std::vector<Floats> found(outputs.begin(), outputs.end());
    Check(metrics_.Update(ViewsOf(expected), ViewsOf(found)));
  }
  void Reset() { metrics_.Reset(); }
  nb::dict Values() const {
    nb::dict values;
    for (const auto& metric : metrics_.metrics()) {
      values[metric->name().c_str()] = metric->Value();
    }
    return values;
  }

 private:
  train::MetricList metrics_;
};

void WriteParameters(const std::string& path, const nb::dict& arrays) {
  std::vector<runtime::NamedArray> named;
  for (const auto& [name, array] : arrays) {
    named.push_back(
        {nb::cast<std::string>(name), CopyOf(nb::cast<InputArray>(array))});
  }
  runtime::Status status;
  {
    const GilReleased released;
    status = runtime::WriteNdarrayList(path, named);
  }
  Check(status);
}

nb::dict ReadParameters(const std::string& path) {
  std::optional<runtime::StatusOr<std::vector<runtime::NamedArray>>> read;
  {
    const GilReleased released;
    read.emplace(train::ReadParameters(path));
  }
  nb::dict arrays;
  for (const runtime::NamedArray& named : Take(std::move(*read))) {
    arrays[named.name.c_str()] = NumpyOf(named.array);
  }
  return arrays;
}

void DeclareTraining(nb::module_& m) {
  nb::class_<Schedule>(m, "Schedule", "Learning rates by the step's number.")
      .def(nb::init<const std::string&, std::optional<double>>(),
           nb::arg("text"), nb::arg("rate").none() = nb::none())
      .def("at", &Schedule::At, nb::arg("update"), "The first step is 1.");
  nb::class_<Metrics>(m, "Metrics", "How good predictions are.")
      .def(nb::init<const std::string&>(), nb::arg("text"))
      .def("update", &Metrics::Update, nb::arg("labels"), nb::arg("outputs"),
           nb::sig("def update(self, labels: typing.Sequence[typing.Any], "
                   "outputs: typing.Sequence[typing.Any]) -> None"))
      .def("reset", &Metrics::Reset)
      .def("values", &Metrics::Values,
           nb::sig("def values(self) -> dict[str, float]"));
}

void DeclareFiles(nb::module_& m) {
  m.def("read_parameters", &ReadParameters, nb::arg("path"),
        nb::sig("def read_parameters(path: str) -> "
                "dict[str, numpy.typing.NDArray[typing.Any]]"),
        "Of a .params, .npz or .safetensors file.");
  m.def("write_parameters", &WriteParameters, nb::arg("path"),
        nb::arg("arrays"),
        nb::sig("def write_parameters(path: str, arrays: "
                "dict[str, numpy.typing.NDArray[typing.Any]]) -> None"),
        "As MXNet's .params.");
  m.def(
      "label_names",
      [](const std::string& line) { return Take(data::ParseLabelNames(line)); },
      nb::arg("line"), "Of the manifest's line 'label_names'.");
}

void DeclareSamples(nb::module_& m) {
  nb::class_<Samples>(m, "Samples", "Batches of a source of data.")
      .def(nb::init<const std::string&, const SampleOptions&>(),
           nb::arg("spec"), nb::arg("options"))
      .def("next", &Samples::Next,
           nb::sig("def next(self) -> tuple[list[numpy.typing.NDArray"
                   "[typing.Any]], list[numpy.typing.NDArray[typing.Any]], "
                   "list[int], int] | None"),
           "Data, labels, the sample in each row, and how many rows at the end "
           "repeat others; None at the end of an epoch.")
      .def("name_of", &Samples::NameOf, nb::arg("sample"))
      .def("seek", &Samples::Seek, nb::arg("epoch"))
      .def("__len__", &Samples::Count)
      .def_prop_ro("summary", &Samples::Summary)
      .def_prop_ro("classes", &Samples::Classes)
      .def_prop_ro("preprocessing", &Samples::Preprocessing)
      .def_prop_ro("bad_records", &Samples::BadRecords);
  nb::class_<SampleOptions>(m, "SampleOptions")
      .def(nb::init<>())
      .def_rw("batch", &SampleOptions::batch)
      .def_rw("seed", &SampleOptions::seed)
      .def_rw("shuffle", &SampleOptions::shuffle)
      .def_rw("held_out", &SampleOptions::held_out)
      .def_rw("shape", &SampleOptions::shape)
      .def_rw("settings", &SampleOptions::settings);
  nb::class_<Pictures>(m, "Pictures", "From files to what a network takes.")
      .def(nb::init<const std::string&>(), nb::arg("preprocessing"))
      .def("load", &Pictures::Load, nb::arg("picture"),
           nb::sig("def load(self, picture: bytes) -> "
                   "numpy.typing.NDArray[typing.Any]"));
}

}  // namespace
}  // namespace mxc::python

NB_MODULE(_train, m) {
  // Threads that run when the interpreter ends keep what they use.
  nanobind::set_leak_warnings(false);
  mxc::python::DeclareTraining(m);
  mxc::python::DeclareFiles(m);
  mxc::python::DeclareSamples(m);
}
