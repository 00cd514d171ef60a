// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/columns.h"

#include <algorithm>
#include <utility>

#include "runtime/formats/convert.h"

namespace mxc::data {

Column::Column(std::string name, NpzMember member)
    : field(FloatField(std::move(name), {member.array.shape.begin() + 1,
                                         member.array.shape.end()})),
      stored(std::move(member)),
      elements(static_cast<size_t>(
          *runtime::ArrayBytes(ElementType::kU8, field.shape))) {}

namespace {

class ColumnSource : public Source {
 public:
  ColumnSource(std::vector<Column> data, std::vector<Column> labels,
               double scale, const char* noun)
      : data_(std::move(data)),
        labels_(std::move(labels)),
        scale_(scale),
        noun_(noun) {}

  int64_t size() const override { return data_[0].stored.array.shape[0]; }
  uint64_t WillRead(int64_t sample) const override {
    uint64_t bytes = 0;
    for (const auto* columns : {&data_, &labels_}) {
      for (const Column& column : *columns) {
        bytes += column.stored.arriving.WillRead(RowOf(column, sample));
      }
    }
    return bytes;
  }
  bool complete() const override {
    const auto is_there = [](const Column& column) {
      return column.stored.arriving.complete();
    };
    return std::ranges::all_of(data_, is_there) &&
           std::ranges::all_of(labels_, is_there);
  }
  Provides sample_fields(int) const override {
    Provides provides;
    for (const Column& column : data_) provides.data.push_back(column.field);
    for (const Column& column : labels_) {
      provides.labels.push_back(column.field);
    }
    return provides;
  }

  // Arrays of pictures: what made them is not known, but the scale.
  Preprocessing preprocessing() const override {
    Preprocessing p = Source::preprocessing();
    p.scale = scale_;
    const Extents& shape = p.data_shape;
    if (scale_ == 1 || shape.size() != 3) return p;
    const auto channels = [](int64_t n) { return n == 1 || n == 3; };
    if (!channels(shape[0]) && !channels(shape[2])) return p;
    p.fit = "stretch";
    p.layout = channels(shape[0]) ? "NCHW" : "NHWC";
    return p;
  }

  Status Read(const SampleRequest& request) const override {
    size_t row = 0;
    for (const Column& column : data_) {
      const std::span<float> to = request.Floats(row++, column.elements);
      MXC_RT_RETURN_IF_ERROR(ReadColumn(column, request.sample, to));
      if (scale_ == 1) continue;
      for (float& value : to) value *= static_cast<float>(scale_);
    }
    for (const Column& column : labels_) {
      MXC_RT_RETURN_IF_ERROR(ReadColumn(
          column, request.sample, request.Floats(row++, column.elements)));
    }
    return {};
  }
  std::string SampleName(int64_t sample) const override {
    return noun_ + (" " + std::to_string(sample));
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    float label = 0;
    MXC_RT_RETURN_IF_ERROR(ReadColumn(labels_[0], sample, {&label, 1}));
    return label;
  }

 private:
  static runtime::Bytes RowOf(const Column& column, int64_t sample) {
    const runtime::NpyView& array = column.stored.array;
    const size_t bytes =
        column.elements * static_cast<size_t>(ElementBytes(array.type));
    return array.elements.subspan(static_cast<size_t>(sample) * bytes, bytes);
  }
  static Status ReadColumn(const Column& column, int64_t sample,
                           std::span<float> to) {
    const runtime::Bytes row = RowOf(column, sample);
    MXC_RT_RETURN_IF_ERROR(column.stored.arriving.Await(row));
    runtime::ConvertElements(column.stored.array.type, row, ElementType::kF32,
                             std::as_writable_bytes(to));
    return {};
  }

  const std::vector<Column> data_, labels_;
  const double scale_;
  const char* const noun_;
};

}  // namespace

Status CheckArray(const NpzMember& member) {
  const std::vector<int64_t>& shape = member.array.shape;
  if (shape.empty()) {
    return {StatusCode::kInvalidArgument,
            "'" + member.name +
                "' is a scalar; its first axis must count the samples"};
  }
  if (std::find(shape.begin(), shape.end(), 0) == shape.end()) return {};
  return {StatusCode::kInvalidArgument, "'" + member.name + "' is empty"};
}

StatusOr<std::unique_ptr<Source>> SourceOf(Columns columns, double scale,
                                           const char* noun) {
  if (columns.data.empty()) {
    return Status(StatusCode::kInvalidArgument, "there are labels only");
  }
  const NpzMember& first = columns.data[0].stored;
  for (const auto* some : {&columns.data, &columns.labels}) {
    for (const Column& column : *some) {
      const NpzMember& other = column.stored;
      if (other.array.shape[0] == first.array.shape[0]) continue;
      return runtime::Fail(
          StatusCode::kInvalidArgument,
          "'%s' holds %lld samples, but '%s' holds %lld", first.name.c_str(),
          static_cast<long long>(first.array.shape[0]), other.name.c_str(),
          static_cast<long long>(other.array.shape[0]));
    }
  }
  return std::unique_ptr<Source>(std::make_unique<ColumnSource>(
      std::move(columns.data), std::move(columns.labels), scale, noun));
}

}  // namespace mxc::data
