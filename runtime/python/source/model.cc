// SPDX-License-Identifier: Apache-2.0
#include "runtime/python/source/model.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/python/source/error.h"
#include "runtime/python/source/gil.h"

namespace mxc::python {
namespace {

const char* UseName(mxc_use use) {
  switch (use) {
    case MXC_USE_DATA:
      return "data";
    case MXC_USE_LABEL:
      return "label";
    case MXC_USE_RATE:
      return "rate";
    case MXC_USE_CARRY:
      return "carry";
    case MXC_USE_LOSS:
      return "loss";
    case MXC_USE_METRIC:
      return "metric";
    case MXC_USE_PARAMETER:
      return "parameter";
    case MXC_USE_AUXILIARY:
      return "auxiliary";
    case MXC_USE_OPTIMIZER:
      return "optimizer";
    case MXC_USE_GRADIENT:
      return "gradient";
    case MXC_USE_ROWS:
      return "rows";
    case MXC_USE_LOSS_SCALE:
      return "loss_scale";
    case MXC_USE_SHARED:
      return "shared";
    case MXC_USE_UPDATES:
      return "updates";
    case MXC_USE_BEGUN:
      return "begun";
    case MXC_USE_COUNT:
      return "count";
    case MXC_USE_LENGTH:
      return "length";
    default:
      return "other";
  }
}

std::string PurposeName(mxc_purpose purpose) {
  switch (purpose) {
    case MXC_PURPOSE_INFER:
      return "infer";
    case MXC_PURPOSE_TRAIN:
      return "train";
    case MXC_PURPOSE_SCORE:
      return "score";
    case MXC_PURPOSE_GRAD:
      return "grad";
    case MXC_PURPOSE_UPDATE:
      return "update";
    default:
      return "other";
  }
}

Tensor Describe(const mxc_tensor& tensor) {
  nb::list dims;
  for (int a = 0; a < tensor.rank; ++a) dims.append(tensor.dims[a]);
  return {tensor.name,
          mxc_dtype_name(tensor.dtype),
          UseName(tensor.use),
          nb::tuple(dims),
          "",
          -1,
          nb::dict()};
}

// "(1, 1 to 64, 8)"
std::string ShapeText(const Tensor& tensor) {
  std::string text;
  for (size_t a = 0; a < tensor.shape.size(); ++a) {
    text += a == 0 ? "(" : ", ";
    if (tensor.open_axes.contains(static_cast<int>(a))) text += "1 to ";
    text += std::to_string(nb::cast<int64_t>(tensor.shape[a]));
  }
  return text + (tensor.shape.size() == 1 ? ",)" : ")");
}

// The name of the state whose index `find` finds; empty where it finds none.
template <class Find>
std::string StateName(const mxc_model* model, Find find) {
  size_t state = 0;
  mxc_status* status = find(&state);
  if (mxc_status_code(status) == MXC_NOT_FOUND) {
    mxc_status_release(status);
    return "";
  }
  Check(status);
  mxc_tensor tensor;
  Check(mxc_model_state(model, state, &tensor));
  return tensor.name;
}

// How long it is in all axes together.
double SizeOf(const Entry& entry) {
  if (entry.length > 0) return static_cast<double>(entry.length);
  double size = 1;
  for (const auto [name, most] : entry.lengths) {
    size *= static_cast<double>(nb::cast<int64_t>(most));
  }
  return size;
}

// Whether it takes as many samples as another one that is for longer sequences.
bool IsShorter(const Entry& entry, const std::vector<Entry>& entries) {
  return std::ranges::any_of(entries, [&](const Entry& other) {
    return other.purpose == entry.purpose && other.batch == entry.batch &&
           SizeOf(other) > SizeOf(entry);
  });
}

// The open axes among `lengths`, by their number in the entry, with their names.
void SetOpenAxes(const int* lengths, const std::vector<std::string>& names,
                 Tensor& tensor) {
  for (int axis = MXC_AXES; axis-- > 0;) {
    if (lengths[axis] >= 0) tensor.open_axis = axis;
  }
  for (int axis = 0; axis < MXC_AXES; ++axis) {
    if (lengths[axis] < 0) continue;
    tensor.open_axes[nb::int_(axis)] =
        names[static_cast<size_t>(lengths[axis])];
  }
}

// What inputs the entries for inference have, for an error.
std::string Shapes(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    if (entry.purpose != "infer" || IsShorter(entry, entries)) continue;
    text += text.empty() ? "" : "; or ";
    for (const Tensor& input : entry.inputs) {
      if (input.use == "length") continue;
      text += (text.empty() || text.ends_with("or ") ? "'" : ", '") +
              input.name + "' " + ShapeText(input);
    }
  }
  return text;
}

}  // namespace

Model::Model(const std::string& path, int threads, bool check_weights,
             bool copy_weights, std::string device)
    : Model(
          [&](const mxc_model_options& options, mxc_model** model) {
            return mxc_model_open(path.c_str(), &options, model);
          },
          threads, check_weights, copy_weights, std::move(device)) {}

Model::Model(nb::bytes file, int threads, bool check_weights, bool copy_weights,
             std::string device)
    : Model(
          [bytes = file.data(), size = file.size()](
              const mxc_model_options& options, mxc_model** model) {
            return mxc_model_open_memory(bytes, size, nullptr, &options, model);
          },
          threads, check_weights, copy_weights, std::move(device)) {}

Model::Model(const Opening& open, int threads, bool check_weights,
             bool copy_weights, std::string device)
    : threads_(threads), device_(std::move(device)) {
  mxc_model_options options = MXC_MODEL_OPTIONS;
  options.weights = copy_weights ? MXC_WEIGHTS_COPY : MXC_WEIGHTS_MAP;
  options.check_weights = check_weights ? 1 : 0;
  mxc_model* model = nullptr;
  mxc_status* status = nullptr;
  {
    const GilReleased released;
    status = open(options, &model);
  }
  Check(status);
  handle_.reset(model);
  for (size_t e = 0; e < mxc_model_entry_count(model); ++e) {
    mxc_entry_summary summary;
    Check(mxc_model_entry(model, e, &summary));
    if (summary.purpose == MXC_PURPOSE_INFER) inferences_.push_back(e);
    for (size_t i = 0; i < summary.input_count; ++i) {
      mxc_tensor tensor;
      Check(mxc_model_input(model, e, i, &tensor));
      open_ = open_ || tensor.use == MXC_USE_LENGTH;
    }
    if (summary.purpose == MXC_PURPOSE_INFER) NoteLengths(e, summary.batch);
  }
}

void Model::NoteLengths(size_t entry, int64_t batch) {
  std::vector<int64_t>& longest = longest_[batch];
  const size_t count = mxc_model_length_count(handle(), entry);
  longest.resize(std::max(longest.size(), count));
  for (size_t k = 0; k < count; ++k) {
    mxc_length length;
    Check(mxc_model_length(handle(), entry, k, &length));
    longest[k] = std::max(longest[k], length.most);
  }
}

std::string Model::symbol() const {
  char* text = nullptr;
  size_t size = 0;
  Check(mxc_model_symbol(handle(), &text, &size));
  const std::unique_ptr<char, void (*)(void*)> owner(text, &mxc_free);
  return std::string(text, size);
}

std::vector<Entry> Model::entries() const {
  std::vector<Entry> entries;
  for (size_t e = 0; e < mxc_model_entry_count(handle()); ++e) {
    mxc_entry_summary summary;
    Check(mxc_model_entry(handle(), e, &summary));
    Entry entry;
    entry.name = summary.name;
    entry.purpose = PurposeName(summary.purpose);
    entry.of = StateName(handle(), [&](size_t* state) {
      return mxc_model_entry_state(handle(), e, state);
    });
    entry.batch = summary.batch;
    entry.length = summary.length;
    entry.activation_bytes = summary.activation_bytes;
    std::vector<std::string> names;
    for (size_t k = 0; k < mxc_model_length_count(handle(), e); ++k) {
      mxc_length length;
      Check(mxc_model_length(handle(), e, k, &length));
      names.emplace_back(length.name);
      entry.lengths[length.name] = length.most;
    }
    mxc_tensor tensor;
    int lengths[MXC_AXES];
    for (size_t i = 0; i < summary.input_count; ++i) {
      Check(mxc_model_input(handle(), e, i, &tensor));
      entry.inputs.push_back(Describe(tensor));
      Check(mxc_model_input_lengths(handle(), e, i, lengths));
      SetOpenAxes(lengths, names, entry.inputs.back());
      entry.inputs.back().of = StateName(handle(), [&](size_t* state) {
        return mxc_model_input_state(handle(), e, i, state);
      });
    }
    for (size_t i = 0; i < summary.output_count; ++i) {
      Check(mxc_model_output(handle(), e, i, &tensor));
      entry.outputs.push_back(Describe(tensor));
      Check(mxc_model_output_lengths(handle(), e, i, lengths));
      SetOpenAxes(lengths, names, entry.outputs.back());
      entry.outputs.back().of = StateName(handle(), [&](size_t* state) {
        return mxc_model_output_state(handle(), e, i, state);
      });
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Tensor> Model::states() const {
  std::vector<Tensor> states;
  for (size_t i = 0; i < mxc_model_state_count(handle()); ++i) {
    mxc_tensor tensor;
    Check(mxc_model_state(handle(), i, &tensor));
    states.push_back(Describe(tensor));
  }
  return states;
}

// Which entries are nearest to the lengths that the arrays have along open axes.
class Model::Nearest {
 public:
  Nearest(const Model& model, nb::args arguments, nb::kwargs named)
      : model_(model), arguments_(arguments), named_(named) {}

  // Returns whether no other entry of its batch is nearer.
  bool Is(size_t entry) {
    if (!model_.open_) return true;
    if (mxc_model_length_count(model_.handle(), entry) == 0) return true;
    mxc_entry_summary summary;
    Check(mxc_model_entry(model_.handle(), entry, &summary));
    const auto [found, added] = by_batch_.try_emplace(summary.batch);
    if (added) found->second = Find(entry, summary);
    return !found->second || *found->second == entry;
  }

 private:
  // Nothing where no array says a length; no entry's number where none holds it.
  std::optional<size_t> Find(size_t entry, const mxc_entry_summary& summary) {
    std::vector<int64_t> lengths = model_.longest_.at(summary.batch);
    bool told = false;
    size_t place = 0;  // among the inputs that are given
    for (size_t i = 0; i < summary.input_count; ++i) {
      mxc_tensor tensor;
      Check(mxc_model_input(model_.handle(), entry, i, &tensor));
      if (tensor.use == MXC_USE_LENGTH) continue;
      const nb::object shape = ShapeOf(place++, tensor.name);
      if (shape.is_none() ||
          nb::len(shape) != static_cast<size_t>(tensor.rank)) {
        continue;
      }
      int of[MXC_AXES];
      Check(mxc_model_input_lengths(model_.handle(), entry, i, of));
      for (int axis = 0; axis < tensor.rank; ++axis) {
        if (of[axis] < 0) continue;
        lengths[static_cast<size_t>(of[axis])] = nb::cast<int64_t>(shape[axis]);
        told = true;
      }
    }
    if (!told) return std::nullopt;
    const std::string name = summary.name;
    size_t nearest = mxc_model_entry_count(model_.handle());
    mxc_status_release(mxc_model_find_lengths(
        model_.handle(), name.substr(0, name.find(':')).c_str(), summary.batch,
        lengths.data(), lengths.size(), &nearest));
    return nearest;
  }

  nb::object ShapeOf(size_t place, const char* name) const {
    nb::object given;
    if (place < arguments_.size()) given = arguments_[place];
    if (named_.contains(name)) given = named_[name];
    if (!given.is_valid()) return nb::none();
    return nb::getattr(given, "shape", nb::none());
  }

  const Model& model_;
  nb::args arguments_;
  nb::kwargs named_;
  std::map<int64_t, std::optional<size_t>> by_batch_;
};

std::unique_ptr<Executor> Model::Take(nb::args arguments, nb::kwargs named) {
  Nearest nearest(*this, arguments, named);
  for (size_t i = idle_.size(); i-- > 0;) {
    if (inferences_.size() > 1 && !idle_[i]->Takes(arguments, named)) continue;
    if (!nearest.Is(idle_[i]->entry())) continue;
    std::swap(idle_[i], idle_.back());
    auto executor = std::move(idle_.back());
    idle_.pop_back();
    return executor;
  }
  if (inferences_.empty()) {
    Raise(PyExc_TypeError,
          "the model has no entry 'infer' to call; bind another one");
  }
  for (const size_t e : inferences_) {
    if (!nearest.Is(e)) continue;
    mxc_entry_summary summary;
    Check(mxc_model_entry(handle(), e, &summary));
    auto executor = std::make_unique<Executor>(
        handle(),
        ExecutorOptions{summary.name, device_, summary.batch, threads_},
        nullptr);
    if (inferences_.size() == 1 || executor->Takes(arguments, named)) {
      return executor;
    }
  }
  Raise(PyExc_ValueError, "the model takes " + Shapes(entries()));
}

nb::object Model::Call(nb::args arguments, nb::kwargs named) {
  std::unique_ptr<Executor> executor = Take(arguments, named);
  struct Return {
    ~Return() { idle.push_back(std::move(executor)); }
    std::vector<std::unique_ptr<Executor>>& idle;
    std::unique_ptr<Executor>& executor;
  } const back{idle_, executor};
  return executor->Call(arguments, named);
}

}  // namespace mxc::python
