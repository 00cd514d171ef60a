// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/input_extents.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mxc::onnx {
namespace {

const std::vector<TensorShapeDimension>* AxesOf(const ValueInfoProto& info) {
  if (info.type == nullptr || info.type->tensor_type == nullptr ||
      info.type->tensor_type->shape == nullptr) {
    return nullptr;
  }
  return &info.type->tensor_type->shape->dim;
}

}  // namespace

InputExtents::InputExtents(const std::vector<const ValueInfoProto*>& inputs,
                           const BuildOptions& options)
    : options_(options) {
  for (const ValueInfoProto* input : inputs) {
    const auto* axes = AxesOf(*input);
    if (axes == nullptr || axes->empty()) continue;
    const Extents* given = Given(std::string(input->name));
    if (given != nullptr && given->size() != axes->size()) continue;
    if (batch_axis_ == nullptr) {
      batch_axis_ = &axes->front();
      batch_ = given != nullptr ? given->front() : options.batch;
      const int64_t fixed = batch_axis_->dim_value.value_or(batch_);
      if (batch_ > 0 && fixed != batch_) file_batch_ = fixed;
    }
    for (size_t axis = 0; axis < axes->size(); ++axis) {
      const TensorShapeDimension& dim = (*axes)[axis];
      if (dim.dim_value || dim.dim_param.empty()) continue;
      const auto open = options.open_axes.find(std::string(input->name));
      if (open != options.open_axes.end() &&
          open->second.contains(static_cast<int>(axis))) {
        letters_.emplace(dim.dim_param,
                         open->second.at(static_cast<int>(axis)));
      } else if (given != nullptr) {
        by_name_.emplace(dim.dim_param, (*given)[axis]);
      } else if (options.batch > 0 && axis == 0 && IsBatch(dim)) {
        by_name_.emplace(dim.dim_param, options.batch);
      }
    }
  }
}

const Extents* InputExtents::Given(const std::string& input) const {
  const auto found = options_.input_shapes.find(input);
  return found == options_.input_shapes.end() ? nullptr : &found->second;
}

bool InputExtents::IsBatch(const TensorShapeDimension& first) const {
  return batch_axis_ != nullptr && first.dim_value == batch_axis_->dim_value &&
         first.dim_param == batch_axis_->dim_param;
}

Result<Extents> InputExtents::Of(const std::string& input,
                                 const TensorTypeProto& declared) {
  const auto* axes = declared.shape == nullptr ? nullptr : &declared.shape->dim;
  if (const Extents* given = Given(input)) {
    if (axes == nullptr || axes->size() == given->size()) {
      if (axes != nullptr) Compare(input, *axes, *given);
      return *given;
    }
    return Error({}, "has {} axes, but --input-shape gives it {}", axes->size(),
                 ToString(*given));
  }
  if (axes == nullptr) {
    const auto known = options_.known_shapes.find(input);
    if (known != options_.known_shapes.end()) return known->second;
    return Error({}, "has no shape in the file; --input-shape gives it one");
  }
  Extents dims;
  for (size_t axis = 0; axis < axes->size(); ++axis) {
    const TensorShapeDimension& dim = (*axes)[axis];
    if (axis == 0 && options_.batch > 0 && IsBatch(dim)) {
      dims.push_back(options_.batch);
    } else if (dim.dim_value) {
      dims.push_back(*dim.dim_value);
    } else {
      MXC_ASSIGN(const int64_t extent, Open(input, *axes, axis));
      dims.push_back(extent);
    }
  }
  return dims;
}

// The batch may be another one; other extents may be, where the network's
// operators do not hold them.
void InputExtents::Compare(const std::string& input,
                           const std::vector<TensorShapeDimension>& axes,
                           const Extents& given) {
  Extents stated = given;
  for (size_t axis = 1; axis < axes.size(); ++axis) {
    stated[axis] = axes[axis].dim_value.value_or(given[axis]);
  }
  if (stated == given) return;
  others_.push_back(
      fmt::format("input '{}' is given the shape {}; in the file "
                  "it is {}",
                  input.substr(0, 200), ToString(given), ToString(stated)));
}

// Of an axis without a number.
Result<int64_t> InputExtents::Open(
    const std::string& input, const std::vector<TensorShapeDimension>& axes,
    size_t axis) {
  const Text name = axes[axis].dim_param;
  const auto bound = by_name_.find(name);
  if (!name.empty() && bound != by_name_.end()) return bound->second;
  if (axis == 0) {  // a batch of one
    if (!name.empty()) by_name_.emplace(name, 1);
    return 1;
  }
  if (!options_.lengths.empty()) {
    const auto letter = letters_.find(name);
    const std::string length(letter == letters_.end() ? name : letter->second);
    open_axes_[input].push_back(
        {.axis = static_cast<int>(axis), .length = length});
    // OpenLengths refuses what the options do not name.
    const auto most = options_.lengths.find(length);
    return most == options_.lengths.end() ? options_.lengths.begin()->second
                                          : most->second;
  }
  const auto known = options_.known_shapes.find(input);
  if (known != options_.known_shapes.end() &&
      known->second.size() == axes.size()) {
    return known->second[axis];
  }
  return Error(
      {},
      "leaves the extent{} of axis {} open; --input-shape {}:… gives it one",
      name.empty() ? "" : fmt::format(" '{}'", name.substr(0, 100)), axis,
      input.substr(0, 100));
}

std::vector<LengthAxis> InputExtents::OpenAxesOf(
    const std::string& input) const {
  const auto found = open_axes_.find(input);
  return found == open_axes_.end() ? std::vector<LengthAxis>() : found->second;
}

Extents InputExtents::Rebatched(Extents stated, const Shape& data) {
  if (file_batch_ == 0 || stated.empty() || data.rank() == 0 ||
      stated[0] != file_batch_ || data[0] != batch_) {
    return stated;
  }
  stated[0] = batch_;
  rebatched_ = true;
  return stated;
}

bool InputExtents::KeepsFileBatch(const ValueInfoProto& output,
                                  const Shape& found) const {
  const auto* axes = AxesOf(output);
  if (file_batch_ == 0 || axes == nullptr || axes->size() < 2 ||
      std::ssize(*axes) != found.rank() || found[0] != file_batch_) {
    return false;
  }
  for (int axis = 0; axis < found.rank(); ++axis) {
    if ((*axes)[static_cast<size_t>(axis)].dim_value != found[axis]) {
      return false;
    }
  }
  return true;
}

std::string InputExtents::Note() const {
  if (!rebatched_) return "";
  return fmt::format(
      "the file is written for a batch of {}; shapes that begin with it begin "
      "with {} now",
      file_batch_, batch_);
}

}  // namespace mxc::onnx
