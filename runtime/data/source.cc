// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/source.h"

#include <algorithm>

namespace mxc::data {

StatusOr<float> Source::ReadLabel(int64_t) const {
  return Status(StatusCode::kUnsupported, "the labels are no classes");
}

std::string Source::SampleName(int64_t sample) const {
  return "record " + std::to_string(sample);
}

Preprocessing Source::preprocessing() const {
  Preprocessing shape;
  const Provides provides = sample_fields(buckets() - 1);
  if (provides.data.empty()) return shape;
  shape.data_shape = provides.data[0].shape;
  shape.dtype = ElementName(provides.data[0].type);
  return shape;
}

std::pair<int64_t, int64_t> Source::Part(int64_t index, int64_t parts) const {
  const auto count = static_cast<__int128>(size());
  return {static_cast<int64_t>(count * index / parts),
          static_cast<int64_t>(count * (index + 1) / parts)};
}

Extents SourceRequest::TakenShape() const {
  const auto named = std::ranges::find(takes, common.data_name, &Field::name);
  const Field* field = named != takes.end() ? &*named
                       : takes.size() == 1  ? &takes.front()
                                            : nullptr;
  if (field == nullptr || field->shape.empty()) return {};
  return {field->shape.begin() + 1, field->shape.end()};
}

Field FloatField(std::string name, std::vector<int64_t> shape) {
  return {std::move(name), ElementType::kF32, std::move(shape)};
}

Status BadRecord(std::string message) {
  return {StatusCode::kCorrupt, std::move(message)};
}

}  // namespace mxc::data
