// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/api/request_from.h"
#include "tools/driver/lengths.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "tools/driver/precision.h"

namespace mxc {
namespace {

std::string TextOr(const char* text, const char* otherwise) {
  return text != nullptr ? text : otherwise;
}

// The caller's array; null has no elements, whatever its count says.
template <class T>
std::span<const T> ArrayOf(const T* elements, size_t count) {
  return {elements, elements != nullptr ? count : 0};
}

Extents ExtentsOf(const int64_t* dims, int rank) {
  const auto extents = ArrayOf(dims, static_cast<size_t>(std::max(rank, 0)));
  return {extents.begin(), extents.end()};
}

std::vector<std::string> Texts(const char* const* texts, size_t count) {
  std::vector<std::string> list;
  for (const char* text : ArrayOf(texts, count)) {
    list.push_back(TextOr(text, ""));
  }
  return list;
}

// Takes the pieces of the options, and collects what is wrong with them.
class OptionsReader {
 public:
  Diagnostics& errors() { return errors_; }

  InputShapes Shapes(const mxc_compile_shape* shapes, size_t count) {
    InputShapes list;
    for (const mxc_compile_shape& shape : ArrayOf(shapes, count)) {
      if (!Named("a shape", shape.name)) continue;
      Extents extents = ExtentsOf(shape.dims, shape.rank);
      if (std::ranges::any_of(extents, [](int64_t n) { return n <= 0; })) {
        errors_.push_back(
            Error({}, "shape of '{}': every axis has 1 or more", shape.name));
      } else if (!list.emplace(shape.name, std::move(extents)).second) {
        errors_.push_back(Error({}, "two shapes for '{}'", shape.name));
      }
    }
    return list;
  }

  InputTypes Types(const mxc_compile_type* types, size_t count) {
    InputTypes list;
    for (const mxc_compile_type& type : ArrayOf(types, count)) {
      if (!Named("a type", type.name)) continue;
      const auto dtype = DTypeFromFlag(type.dtype);
      if (!dtype) {
        errors_.push_back(Error({}, "type of '{}': {} is no mxc_dtype",
                                type.name, type.dtype));
      } else if (!list.emplace(type.name, *dtype).second) {
        errors_.push_back(Error({}, "two types for '{}'", type.name));
      }
    }
    return list;
  }

  std::shared_ptr<const ParameterArrays> Arrays(
      std::span<const mxc_compile_array> arrays) {
    if (arrays.empty()) return nullptr;
    auto list = std::make_shared<ParameterArrays>();
    for (const mxc_compile_array& array : arrays) {
      if (!Named("an array", array.name)) continue;
      const auto type = runtime::ElementTypeFromFlag(array.dtype);
      if (!type) {
        errors_.push_back(Error({}, "array '{}': {} is no mxc_dtype",
                                array.name, array.dtype));
        continue;
      }
      auto copy =
          runtime::Array::Allocate(*type, ExtentsOf(array.dims, array.rank));
      if (!copy.ok()) {
        errors_.push_back(
            Error({}, "array '{}': {}", array.name, copy.status().message()));
        continue;
      }
      if (copy->bytes().size() > 0 && array.values == nullptr) {
        errors_.push_back(Error({}, "array '{}' has no values", array.name));
        continue;
      }
      if (copy->bytes().size() > 0) {
        std::memcpy(copy->bytes().data(), array.values, copy->bytes().size());
      }
      list->push_back({array.name, std::move(*copy)});
    }
    return list;
  }

  TrainingOptions Training(const mxc_compile_options& options) {
    TrainingOptions training;
    training.optimizer = TextOr(options.optimizer, "sgd");
    for (const std::string& text : Texts(options.optimizer_attributes,
                                         options.optimizer_attribute_count)) {
      const size_t equals = text.find('=');
      if (equals == text.npos || equals == 0) {
        errors_.push_back(
            Error({}, "optimizer attribute '{}' is not NAME=VALUE", text));
        continue;
      }
      training.optimizer_attrs.emplace_back(text.substr(0, equals),
                                            text.substr(equals + 1));
    }
    for (std::string& name : Texts(options.fixed, options.fixed_count)) {
      training.fixed.insert(std::move(name));
    }
    training.label_smoothing = options.label_smoothing;
    if (options.memory_budget > 0) {
      training.memory_budget = static_cast<int64_t>(options.memory_budget);
    }
    return training;
  }

  std::map<std::string, int64_t> Bounds(const mxc_compile_bound* bounds,
                                        size_t count) {
    std::map<std::string, int64_t> list;
    for (const mxc_compile_bound& bound : ArrayOf(bounds, count)) {
      if (!Named("a bound", bound.node)) continue;
      if (bound.rows <= 0) {
        errors_.push_back(Error({},
                                "bound of '{}': {} rows, expected 1 or more",
                                bound.node, bound.rows));
      } else if (!list.emplace(bound.node, bound.rows).second) {
        errors_.push_back(Error({}, "two bounds for '{}'", bound.node));
      }
    }
    return list;
  }

  void Precision(const std::string& name, CompileRequest& request) {
    if (SetPrecision(name, request)) return;
    errors_.push_back(
        Error({}, "precision '{}' is unknown; expected {}", name, kPrecisions));
  }

  WeightStorage Weights(const mxc_compile_options& options) {
    WeightStorage weights;
    const std::string name = TextOr(options.weights, "f32");
    if (!SetWeights(name, weights)) {
      errors_.push_back(Error({}, "weights '{}' are unknown; expected {}", name,
                              kWeightKinds));
    }
    for (std::string& pattern :
         Texts(options.kept_weights, options.kept_weight_count)) {
      weights.kept.insert(std::move(pattern));
    }
    return weights;
  }

 private:
  bool Named(const char* what, const char* name) {
    if (name != nullptr && *name != '\0') return true;
    errors_.push_back(Error({}, "{} has no name", what));
    return false;
  }

  Diagnostics errors_;
};

NetworkRequest NetworkFrom(const mxc_compile_options& options,
                           OptionsReader& reader) {
  NetworkRequest network;
  network.model = TextOr(options.model, "");
  if (options.text != nullptr) {
    network.text = std::make_shared<const SourceFile>(
        SourceFile{TextOr(options.text_name, "network"),
                   std::string(options.text, options.text_size)});
  }
  network.params = TextOr(options.params, "");
  network.arrays = reader.Arrays(ArrayOf(options.arrays, options.array_count));
  network.init = TextOr(options.init, "");
  network.refits = !network.init.empty();
  network.seed = options.seed;
  network.classes = options.num_classes;
  network.loss = TextOr(options.loss, "");
  if (options.is_cancelled != nullptr) {
    network.is_cancelled = [ask = options.is_cancelled,
                            context = options.cancel_context] {
      return ask(context) != 0;
    };
  }
  return network;
}

// Up to which lengths are open; none: none is.
Result<Lengths> LengthsFrom(const mxc_compile_options& options) {
  Lengths most;
  if (options.length > 0) most[""] = options.length;
  for (const mxc_compile_length& one :
       ArrayOf(options.named_lengths, options.named_length_count)) {
    const std::string name = TextOr(one.name, "");
    if (name.empty() || one.most < 1) {
      return Error({}, "length '{}' up to {}, expected a name and 1 or more",
                   name, one.most);
    }
    if (options.length > 0 || !most.emplace(name, one.most).second) {
      return Error(
          {}, "length '{}' beside {}", name,
          options.length > 0 ? "one without a name" : "the same again");
    }
  }
  if (!most.empty() && options.bucket_count > 0) {
    return Error({}, "length {} goes with no buckets; `lengths` names its own",
                 most.begin()->second);
  }
  return most;
}

}  // namespace

Result<mxc_compile_options> OptionsFrom(const mxc_compile_options* given) {
  mxc_compile_options options;
  mxc_compile_options_init(&options, sizeof options);
  if (given == nullptr || given->struct_size < sizeof given->struct_size) {
    return Error({}, "options without mxc_compile_options_init");
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(given);
  const size_t known = std::min(given->struct_size, sizeof options);
  if (std::any_of(bytes + known, bytes + given->struct_size,
                  [](std::byte b) { return b != std::byte{0}; })) {
    return Error({}, "options that libmxc {} does not know", MXC_VERSION);
  }
  std::memcpy(&options, given, known);
  options.struct_size = sizeof options;
  return options;
}

Result<CompileRequest> RequestFrom(const mxc_compile_options& options) {
  OptionsReader reader;
  CompileRequest request;
  request.network = NetworkFrom(options, reader);
  request.input_shapes = reader.Shapes(options.shapes, options.shape_count);
  request.input_types = reader.Types(options.types, options.type_count);
  const auto batches = ArrayOf(options.batches, options.batch_count);
  request.batches.assign(batches.begin(), batches.end());
  for (const mxc_compile_bucket& bucket :
       ArrayOf(options.buckets, options.bucket_count)) {
    request.buckets.push_back(
        {{{"", bucket.length}},
         reader.Shapes(bucket.shapes, bucket.shape_count)});
  }
  MXC_ASSIGN(const Lengths most, LengthsFrom(options));
  if (!most.empty()) {
    const auto given = ArrayOf(options.lengths, options.length_count);
    MXC_ASSIGN(const std::vector<Lengths> all,
               LengthsUpTo(most, {given.begin(), given.end()}));
    for (const Lengths& lengths : all) {
      request.buckets.push_back(
          {.lengths = lengths, .shapes = request.input_shapes, .open = true});
    }
  }
  if (options.entries != nullptr && options.entry_count > 0) {
    request.entries = Texts(options.entries, options.entry_count);
  }
  request.training = reader.Training(options);
  request.label_names = Texts(options.label_names, options.label_name_count);
  request.preprocessing = TextOr(options.preprocessing, "");
  request.target = TextOr(options.target, "native");
  request.level = options.level;
  request.tuning.cache = TextOr(options.tuning_cache, "");
  request.tuning.seconds = options.tuning_seconds;
  request.tuning.measure = options.level == 3;
  reader.Precision(TextOr(options.precision, "f32"), request);
  for (std::string& pattern :
       Texts(options.kept_layers, options.kept_layer_count)) {
    request.kept_layers.insert(std::move(pattern));
  }
  request.weights = reader.Weights(options);
  request.bounds = reader.Bounds(options.bounds, options.bound_count);
  if (options.object_cache != nullptr) {
    request.objects = std::make_shared<ObjectCache>(options.object_cache);
  }
  if (!reader.errors().empty()) return reader.errors();
  return request;
}

}  // namespace mxc
