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
#include "runtime/train/head.h"
#include "runtime/train/judge.h"
#include "runtime/train/metric.h"
#include "runtime/train/read_parameters.h"
#include "runtime/train/scheduler.h"

namespace mxc::python {
namespace {

class Schedule {
 public:
  // Of a run of so many updates; 0: nobody knows.
  Schedule(const std::string& text, std::optional<double> rate, int64_t updates,
           int64_t updates_an_epoch)
      : schedule_(Take(train::ParseSchedule(
            text, rate,
            updates > 0
                ? std::optional(train::RunLength{updates, updates_an_epoch})
                : std::nullopt))) {}

  double At(int64_t update) { return schedule_->At(update); }

 private:
  std::unique_ptr<train::Scheduler> schedule_;
};

std::vector<train::Head> HeadsOf(const std::vector<std::string>& lines) {
  std::vector<train::Head> heads;
  for (const std::string& line : lines) {
    heads.push_back(Take(train::ParseHead(line)));
  }
  return heads;
}

// Metrics of what a network says of batches, whose loss heads the lines `head`
// of its manifest tell.
class Metrics {
 public:
  Metrics(const std::string& text, const std::vector<std::string>& heads)
      : metrics_(Take(train::MetricList::Parse(text))), judge_(HeadsOf(heads)) {
    Check(train::RequireFit(metrics_, HeadsOf(heads)));
  }
  Metrics(const Metrics&) = delete;

  // The last `pad` of `rows` samples are not counted.
  void Update(const std::vector<InputArray>& labels,
              const std::vector<InputArray>& outputs, int64_t rows,
              int64_t pad) {
    data::Batch batch;
    batch.data.push_back({"", {.shape = {rows}, .storage = nullptr}});
    for (const InputArray& label : labels) {
      batch.labels.push_back({"", CopyOf(label)});
    }
    std::vector<std::vector<float>> converted(outputs.size());
    std::vector<train::FloatView> views;
    for (size_t i = 0; i < outputs.size(); ++i) {
      views.push_back(
          {FloatsOf(outputs[i], converted[i]), ShapeOf(outputs[i])});
    }
    Check(judge_.Update(batch, views, pad, metrics_));
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
  // In the array's own memory, if it holds floats, else in `converted`.
  static std::span<const float> FloatsOf(const InputArray& array,
                                         std::vector<float>& converted) {
    const auto type = ElementTypeOf(array);
    if (type == runtime::ElementType::kF32) {
      return {static_cast<const float*>(array.data()), array.size()};
    }
    converted.resize(array.size());
    train::ToFloats(type, BytesOf(array), converted);
    return converted;
  }

  train::MetricList metrics_;
  train::Judge judge_;
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
      .def(nb::init<const std::string&, std::optional<double>, int64_t,
                    int64_t>(),
           nb::arg("text"), nb::arg("rate").none() = nb::none(),
           nb::arg("updates") = 0, nb::arg("updates_an_epoch") = 0)
      .def("at", &Schedule::At, nb::arg("update"), "The first step is 1.");
  nb::class_<Metrics>(m, "Metrics", "How good predictions are.")
      .def(nb::init<const std::string&, const std::vector<std::string>&>(),
           nb::arg("text"), nb::arg("heads"))
      .def("update", &Metrics::Update, nb::arg("labels"), nb::arg("outputs"),
           nb::arg("rows"), nb::arg("pad"),
           nb::sig("def update(self, labels: typing.Sequence[typing.Any], "
                   "outputs: typing.Sequence[typing.Any], rows: int, pad: int) "
                   "-> None"))
      .def("reset", &Metrics::Reset)
      .def("values", &Metrics::Values,
           nb::sig("def values(self) -> dict[str, float]"));
  m.def(
      "default_metrics",
      [](const std::vector<std::string>& heads) {
        return heads.empty() ? "" : train::DefaultMetrics(HeadsOf(heads));
      },
      nb::arg("heads"));
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
      .def_rw("label_classes", &SampleOptions::label_classes)
      .def_rw("settings", &SampleOptions::settings)
      .def_rw("offered", &SampleOptions::offered);
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
