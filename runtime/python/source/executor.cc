// SPDX-License-Identifier: Apache-2.0
#include "runtime/python/source/executor.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "runtime/python/source/error.h"
#include "runtime/python/source/gil.h"

namespace mxc::python {
namespace {

const char* OrNull(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

bool IsNumber(nb::handle value) {
  return PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr());
}

// Clears what a call has noted, however it ends.
class Noted {
 public:
  Noted(bool& busy, std::vector<HeldArray>& held) : busy_(busy), held_(held) {
    if (busy_) {
      Raise(PyExc_RuntimeError,
            "the executor is running in another thread; bind one for each");
    }
    busy_ = true;
  }
  ~Noted() {
    held_.clear();
    busy_ = false;
  }

 private:
  bool& busy_;
  std::vector<HeldArray>& held_;
};

}  // namespace

Executor::Executor(mxc_model* model, const ExecutorOptions& options,
                   Executor* share)
    : model_(model) {
  mxc_bind_options bind = MXC_BIND_OPTIONS;
  bind.entry = OrNull(options.entry);
  bind.device = OrNull(options.device);
  bind.batch = options.batch;
  bind.threads = options.threads;
  bind.stream = reinterpret_cast<void*>(options.stream);
  bind.share = share != nullptr ? share->handle_.get() : nullptr;
  mxc_executor* executor = nullptr;
  Check(mxc_bind(model, &bind, &executor));
  handle_.reset(executor);

  mxc_entry_summary summary;
  Check(mxc_model_entry(model, entry(), &summary));
  std::vector<bool> carried(summary.input_count);
  for (size_t i = 0; i < mxc_model_carry_count(model, entry()); ++i) {
    size_t output = 0, input = 0;
    Check(mxc_model_carry(model, entry(), i, &output, &input));
    carried[input] = true;
  }
  for (size_t i = 0; i < summary.input_count; ++i) {
    mxc_tensor tensor;
    int read = 0;
    Check(mxc_model_input(model, entry(), i, &tensor));
    Check(mxc_model_input_read(model, entry(), i, &read));
    if (tensor.use == MXC_USE_LENGTH) continue;
    std::array<int, MXC_AXES> lengths;
    Check(mxc_model_input_lengths(model, entry(), i, lengths.data()));
    inputs_.push_back({TypeOf(tensor), i, lengths,
                       nb::steal(PyUnicode_InternFromString(tensor.name)),
                       read != 0 && !carried[i], nb::handle()});
  }
  for (size_t k = 0; k < mxc_model_length_count(model, entry()); ++k) {
    mxc_length length;
    Check(mxc_model_length(model, entry(), k, &length));
    open_.push_back({length.name, length.most});
    lengths_.push_back(length.most);
  }
  FindOutputs(summary.output_count);
}

void Executor::FindOutputs(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    mxc_tensor tensor;
    Check(mxc_model_output(model_, entry(), i, &tensor));
    int axis = -1;
    Check(mxc_model_output_axis(model_, entry(), i, &axis));
    outputs_.push_back(
        {OutputArray(TypeOf(tensor)), tensor.bytes, {}, axis >= 0});
    const char* colon = std::strchr(tensor.name, ':');
    if (tensor.use != MXC_USE_COUNT || colon == nullptr) continue;
    size_t output = 0;
    Check(mxc_find_output(handle_.get(), colon + 1, &output));
    outputs_[output].count = i;
  }
}

bool Executor::IsOpen(const Input& input) {
  return std::ranges::any_of(input.lengths, [](int n) { return n >= 0; });
}

// Returns whether the array has the input's shape, for lengths that are possible.
bool Executor::HasLengths(nb::handle given, const Input& input) const {
  const nb::object shape = nb::getattr(given, "shape", nb::none());
  std::vector<int64_t> dims = input.type.dims;
  if (shape.is_none() || nb::len(shape) != dims.size()) return false;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (input.lengths[axis] < 0) continue;
    dims[axis] = nb::cast<int64_t>(shape[axis]);
    const auto n = static_cast<size_t>(input.lengths[axis]);
    if (dims[axis] < 1 || dims[axis] > open_[n].most) return false;
  }
  return HasShape(given, dims);
}

bool Executor::Takes(nb::args arguments, nb::kwargs named) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    nb::handle given;
    if (i < arguments.size()) given = arguments[i];
    if (PyObject* value = PyDict_GetItem(named.ptr(), input.key.ptr())) {
      given = value;
    }
    if (!given.is_valid() || IsNumber(given)) continue;
    if (IsOpen(input) ? !HasLengths(given, input)
                      : !HasShape(given, input.type.dims)) {
      return false;
    }
  }
  return true;
}

void Executor::TakeArguments(nb::args arguments, nb::kwargs named) {
  const size_t count = arguments.size();
  if (count > inputs_.size()) {
    Raise(PyExc_TypeError, "the entry has " + std::to_string(inputs_.size()) +
                               " inputs, " + std::to_string(count) +
                               " were given");
  }
  size_t found = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    input.given = nb::handle();
    if (i < count) input.given = arguments[i];
    if (named.size() == found) continue;
    if (PyObject* value = PyDict_GetItem(named.ptr(), input.key.ptr())) {
      ++found;
      if (i < count) {
        Raise(PyExc_TypeError, "'" + input.type.name +
                                   "' is given twice: by its place and by its "
                                   "name");
      }
      input.given = value;
    }
  }
  std::string names, missing;
  for (const Input& input : inputs_) {
    names += (names.empty() ? "'" : ", '") + input.type.name + "'";
    if (input.given.is_valid() || !input.needed) continue;
    missing += (missing.empty() ? "'" : ", '") + input.type.name + "'";
  }
  if (found != named.size()) {
    Raise(PyExc_TypeError, "the inputs are " + names);
  }
  if (!missing.empty()) Raise(PyExc_TypeError, missing + " is not given");
}

void Executor::BindNumber(Input& input) {
  const char* name = input.type.name.c_str();
  const double value = nb::cast<double>(input.given);
  const float single = static_cast<float>(value);
  // Not into an array of an earlier call.
  Check(mxc_bind_input(handle_.get(), name, nullptr, input.type.bytes));
  if (input.type.dtype == MXC_F64 && input.type.bytes == sizeof value) {
    Check(mxc_set_input(handle_.get(), name, &value, sizeof value));
  } else if (input.type.dtype == MXC_F32 && input.type.bytes == sizeof single) {
    Check(mxc_set_input(handle_.get(), name, &single, sizeof single));
  } else {
    Raise(PyExc_TypeError,
          "'" + input.type.name + "' takes an array, not one number");
  }
}

std::vector<int64_t> Executor::LengthsOfArrays() const {
  std::vector<int64_t> lengths;
  for (const Length& length : open_) lengths.push_back(length.most);
  std::vector<const Input*> told(open_.size());
  for (const Input& input : inputs_) {
    if (!input.given.is_valid() || !IsOpen(input)) continue;
    const nb::object shape = nb::getattr(input.given, "shape", nb::none());
    if (shape.is_none() || nb::len(shape) != input.type.dims.size()) continue;
    for (size_t axis = 0; axis < input.type.dims.size(); ++axis) {
      if (input.lengths[axis] < 0) continue;
      const auto n = static_cast<size_t>(input.lengths[axis]);
      const auto length = nb::cast<int64_t>(shape[axis]);
      if (told[n] != nullptr && lengths[n] != length) {
        const std::string& name = open_[n].name;
        Raise(PyExc_ValueError,
              "'" + told[n]->type.name + "' is " + std::to_string(lengths[n]) +
                  " long" + (name.empty() ? "" : " along '" + name + "'") +
                  ", '" + input.type.name + "' " + std::to_string(length));
      }
      lengths[n] = length;
      told[n] = &input;
    }
  }
  return lengths;
}

void Executor::SetLengths() {
  const std::vector<int64_t> lengths = LengthsOfArrays();
  if (lengths == lengths_) return;
  Check(mxc_set_lengths(handle_.get(), lengths.data(), lengths.size()));
  lengths_ = lengths;
  mxc_tensor tensor;
  for (Input& input : inputs_) {
    Check(mxc_executor_input(handle_.get(), input.index, &tensor));
    input.type = TypeOf(tensor);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].open) continue;
    Check(mxc_executor_output(handle_.get(), i, &tensor));
    outputs_[i].array = OutputArray(TypeOf(tensor));
    outputs_[i].bytes = tensor.bytes;
  }
}

void Executor::BindInputs() {
  if (!open_.empty()) SetLengths();
  for (Input& input : inputs_) {
    const char* name = input.type.name.c_str();
    if (!input.given.is_valid()) continue;
    if (IsNumber(input.given)) {
      BindNumber(input);
      continue;
    }
    held_.emplace_back(input.given, input.type);
    const void* memory = held_.back().memory();
    // An input that may be left out keeps a value of its own, and so does one that
    // is shorter than the entry's.
    Check(input.needed && !IsOpen(input)
              ? mxc_bind_input(handle_.get(), name, memory, input.type.bytes)
              : mxc_set_input(handle_.get(), name, memory, input.type.bytes));
  }
}

nb::object Executor::Call(nb::args arguments, nb::kwargs named) {
  const Noted noted(busy_, held_);
  TakeArguments(arguments, named);
  BindInputs();
  std::vector<nb::object> arrays;
  std::vector<void*> memory(outputs_.size());
  arrays.reserve(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    arrays.push_back(outputs_[i].array.Make(&memory[i]));
    if (outputs_[i].open) continue;
    Check(mxc_bind_output(handle_.get(), i, memory[i], outputs_[i].bytes));
  }
  mxc_status* status = nullptr;
  {
    const GilReleased released;
    status = mxc_run(handle_.get());
  }
  Check(status);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].open) {
      Check(mxc_read_output(handle_.get(), i, memory[i], outputs_[i].bytes));
    }
    if (!outputs_[i].count) continue;
    const auto rows = *static_cast<const int32_t*>(memory[*outputs_[i].count]);
    arrays[i] = arrays[i][nb::slice(0, rows)];
  }
  if (arrays.size() == 1) return arrays.front();
  nb::list list;
  for (nb::object& array : arrays) list.append(array);
  return nb::tuple(list);
}

ArrayType Executor::StateType(const std::string& name) const {
  for (size_t i = 0; i < mxc_model_state_count(model_); ++i) {
    mxc_tensor state;
    Check(mxc_model_state(model_, i, &state));
    if (name == state.name) return TypeOf(state);
  }
  Raise(PyExc_KeyError, name);
}

nb::object Executor::ReadState(const std::string& name) const {
  const ArrayType type = StateType(name);
  void* memory = nullptr;
  nb::object array = OutputArray(type).Make(&memory);
  Check(mxc_read_state(handle_.get(), name.c_str(), memory, type.bytes));
  return array;
}

void Executor::WriteState(const std::string& name, nb::handle values) {
  const ArrayType type = StateType(name);
  const HeldArray held(values, type);
  Check(
      mxc_write_state(handle_.get(), name.c_str(), held.memory(), type.bytes));
}

void Executor::ResetStates() { Check(mxc_reset_states(handle_.get())); }

}  // namespace mxc::python
