// SPDX-License-Identifier: Apache-2.0
// The module mxc._compiler: the compiler's C API with Python's types. What is
// wrong comes back as diagnostics; mxc.compile makes an exception of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <list>
#include <map>

#include "runtime/python/source/element.h"
#include "runtime/python/source/gil.h"
#include "tools/driver/mxc_compile.h"

namespace nb = nanobind;
using mxc::python::GilReleased;
using mxc::python::GilTaken;
using mxc::python::TypeFlag;

namespace {

struct Diagnostic {
  std::string severity, file;
  int line = 0, column = 0;
  std::string path, message, notes;
};

struct Request {
  std::string model, text, output;
  std::string params, init, optimizer, target, precision, tuning_cache,
      object_cache, preprocessing, loss, weights;
  std::map<std::string, nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>>
      arrays;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, int64_t> bounds, named_lengths;
  std::vector<int64_t> batches, lengths;
  std::vector<std::string> entries, attributes, fixed, classes, kept_weights,
      kept_layers;
  uint64_t seed = 0, memory_budget = 0;
  int64_t num_classes = 0, length = 0;
  int level = 2;
  double tuning_seconds = 30, label_smoothing = 0;
  nb::object progress = nb::none();
  std::atomic<bool> cancelled{false};
};

const char* OrNull(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

// The options of the C API over a request that outlives them.
class Options {
 public:
  explicit Options(const Request& request)
      : entries_(Pointers(request.entries)),
        attributes_(Pointers(request.attributes)),
        fixed_(Pointers(request.fixed)),
        classes_(Pointers(request.classes)),
        kept_weights_(Pointers(request.kept_weights)),
        kept_layers_(Pointers(request.kept_layers)) {
    mxc_compile_options_init(&options_, sizeof options_);
    SetNetwork(request);
    SetTraining(request);
    options_.batches = request.batches.data();
    options_.batch_count = request.batches.size();
    options_.length = request.length;
    for (const auto& [name, most] : request.named_lengths) {
      named_lengths_.push_back({name.c_str(), most});
    }
    options_.named_lengths = named_lengths_.data();
    options_.named_length_count = named_lengths_.size();
    options_.lengths = request.lengths.data();
    options_.length_count = request.lengths.size();
    options_.target = OrNull(request.target);
    options_.level = request.level;
    options_.tuning_cache = OrNull(request.tuning_cache);
    options_.tuning_seconds = request.tuning_seconds;
    options_.object_cache = OrNull(request.object_cache);
    options_.precision = OrNull(request.precision);
    options_.weights = OrNull(request.weights);
    options_.kept_weights = kept_weights_.data();
    options_.kept_weight_count = kept_weights_.size();
    options_.kept_layers = kept_layers_.data();
    options_.kept_layer_count = kept_layers_.size();
    options_.label_names = classes_.data();
    options_.label_name_count = classes_.size();
    options_.preprocessing = OrNull(request.preprocessing);
    options_.is_cancelled = [](void* context) -> int {
      return static_cast<const Request*>(context)->cancelled ? 1 : 0;
    };
    options_.cancel_context = const_cast<Request*>(&request);
    if (!request.progress.is_none()) {
      options_.progress = &Report;
      options_.progress_context = const_cast<nb::object*>(&request.progress);
    }
  }

  const mxc_compile_options* get() const { return &options_; }

 private:
  void SetNetwork(const Request& request) {
    options_.model = OrNull(request.model);
    if (!request.text.empty()) {
      options_.text = request.text.data();
      options_.text_size = request.text.size();
    }
    options_.params = OrNull(request.params);
    for (const auto& [name, array] : request.arrays) {
      std::vector<int64_t>& dims = dims_.emplace_back();
      for (size_t a = 0; a < array.ndim(); ++a) {
        dims.push_back(static_cast<int64_t>(array.shape(a)));
      }
      arrays_.push_back({name.c_str(), TypeFlag(array.dtype()),
                         static_cast<int>(array.ndim()), dims.data(),
                         array.data()});
    }
    options_.arrays = arrays_.data();
    options_.array_count = arrays_.size();
    options_.init = OrNull(request.init);
    options_.seed = request.seed;
    options_.num_classes = request.num_classes;
    options_.loss = OrNull(request.loss);
    for (const auto& [name, dims] : request.shapes) {
      shapes_.push_back(
          {name.c_str(), static_cast<int>(dims.size()), dims.data()});
    }
    options_.shapes = shapes_.data();
    options_.shape_count = shapes_.size();
    for (const auto& [node, rows] : request.bounds) {
      bounds_.push_back({node.c_str(), rows});
    }
    options_.bounds = bounds_.data();
    options_.bound_count = bounds_.size();
  }

  void SetTraining(const Request& request) {
    options_.entries = entries_.data();
    options_.entry_count = entries_.size();
    options_.optimizer = OrNull(request.optimizer);
    options_.optimizer_attributes = attributes_.data();
    options_.optimizer_attribute_count = attributes_.size();
    options_.fixed = fixed_.data();
    options_.fixed_count = fixed_.size();
    options_.memory_budget = request.memory_budget;
    options_.label_smoothing = request.label_smoothing;
  }

  // A phase has ended; what the callable raises is printed and goes no further.
  static void Report(void* context, const char* phase, const char* text,
                     double seconds) {
    const GilTaken taken;
    try {
      const auto& progress = *static_cast<nb::object*>(context);
      progress(phase, text,
               seconds < 0 ? nb::none() : nb::object(nb::float_(seconds)));
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("mxc.compile's progress");
    }
  }

  mxc_compile_options options_;
  std::vector<const char*> entries_, attributes_, fixed_, classes_,
      kept_weights_, kept_layers_;
  std::list<std::vector<int64_t>> dims_;
  std::vector<mxc_compile_array> arrays_;
  std::vector<mxc_compile_shape> shapes_;
  std::vector<mxc_compile_bound> bounds_;
  std::vector<mxc_compile_length> named_lengths_;
};

Diagnostic Copy(const mxc_diagnostic& from) {
  constexpr const char* kNames[] = {"error", "warning", "note"};
  return {kNames[from.severity], from.file, from.line, from.column, from.path,
          from.message,          from.notes};
}

// Writes request.output, and says all that there is to say.
std::vector<Diagnostic> Compile(const Request& request) {
  const Options options(request);
  std::vector<Diagnostic> diagnostics;
  const GilReleased released;
  mxc_compilation* compilation = mxc_compile(options.get());
  if (mxc_compilation_ok(compilation) != 0) {
    mxc_compilation_save(compilation, request.output.c_str());
  }
  for (size_t i = 0; i < mxc_compilation_diagnostic_count(compilation); ++i) {
    diagnostics.push_back(Copy(*mxc_compilation_diagnostic(compilation, i)));
  }
  if (compilation == nullptr) {
    diagnostics.push_back({"error", "", 0, 0, "", "out of memory", ""});
  }
  mxc_compilation_release(compilation);
  return diagnostics;
}

}  // namespace

NB_MODULE(_compiler, m) {
  // Threads that run when the interpreter ends keep what they use.
  nb::set_leak_warnings(false);
  m.attr("version") = mxc_compile_version();
  nb::class_<Diagnostic>(m, "Diagnostic", "What is wrong, and where.")
      .def_ro("severity", &Diagnostic::severity,
              "\"error\", \"warning\" or \"note\"")
      .def_ro("file", &Diagnostic::file)
      .def_ro("line", &Diagnostic::line, "from 1; 0: no place in a file")
      .def_ro("column", &Diagnostic::column)
      .def_ro("path", &Diagnostic::path, "\"nodes[12].attrs.kernel\"")
      .def_ro("message", &Diagnostic::message)
      .def_ro("notes", &Diagnostic::notes)
      .def("__repr__", [](const Diagnostic& d) {
        return "Diagnostic(" + d.file + ":" + std::to_string(d.line) + ":" +
               std::to_string(d.column) + ": " + d.message + ")";
      });
  nb::class_<Request>(m, "Request", "mxc_compile_options of mxc_compile.h.")
      .def(nb::init<>())
#define MXC_FIELD(name) .def_rw(#name, &Request::name)
          MXC_FIELD(model) MXC_FIELD(text) MXC_FIELD(output) MXC_FIELD(
              params) MXC_FIELD(init) MXC_FIELD(seed) MXC_FIELD(arrays)
              MXC_FIELD(shapes) MXC_FIELD(batches) MXC_FIELD(entries) MXC_FIELD(
                  optimizer) MXC_FIELD(attributes) MXC_FIELD(fixed)
                  MXC_FIELD(memory_budget) MXC_FIELD(target) MXC_FIELD(
                      level) MXC_FIELD(tuning_cache) MXC_FIELD(tuning_seconds)
                      MXC_FIELD(object_cache) MXC_FIELD(precision)
                          MXC_FIELD(label_smoothing) MXC_FIELD(classes)
                              MXC_FIELD(preprocessing) MXC_FIELD(num_classes)
                                  MXC_FIELD(loss) MXC_FIELD(weights)
                                      MXC_FIELD(kept_weights)
                                          MXC_FIELD(kept_layers)
                                              MXC_FIELD(bounds)
                                                  MXC_FIELD(length)
                                                      MXC_FIELD(named_lengths)
                                                          MXC_FIELD(lengths)
#undef MXC_FIELD
      .def_rw("progress", &Request::progress, nb::arg().none())
      .def(
          "cancel", [](Request& request) { request.cancelled = true; },
          "Lets compile give up soon, from any thread.");
  m.def("compile", &Compile, nb::arg("request"));
}
