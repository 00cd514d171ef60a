// SPDX-License-Identifier: Apache-2.0
// csv:FILE: a sample in every line, numbers with commas between. As MXNet
// 1.9.1's CSVIter (src/io/iter_csv.cc), but that there are no labels where none
// are named; MXNet gives zeros.
//   data   f32[data_shape]     label   f32[label_shape], f32 for 1
#include <algorithm>

#include "runtime/data/files/lines.h"
#include "runtime/data/source.h"

namespace mxc::data {
namespace {

struct CsvOptions {
  Extents data_shape, label_shape = {1};
  std::string label_csv;
  int64_t label_column = -1, skip_lines = 0;

  template <class Fields>
  void Describe(Fields& f) {
    f("data_shape", data_shape,
      "of a sample; empty: all columns, as the network takes them", kAtLeast1);
    f("label_csv", label_csv, "file with the labels, line by line");
    f("label_shape", label_shape, "of a label in label_csv", kAtLeast1);
    f("label_column", label_column,
      "the column that is the label, from 0; -1: none", Range{-1, 1e9});
    f("skip_lines", skip_lines, "lines of headings at the top", kAtLeast0);
  }
};

// The numbers of one line. `label_at`: that column goes to `label`.
Status ParseLine(std::string_view line, std::span<float> values,
                 int64_t label_at, float* label) {
  size_t column = 0, stored = 0;
  for (bool more = true; more; ++column) {
    const std::string_view field = line.substr(0, line.find(','));
    float value = 0;
    if (!TakeNumber(&line, &value) || (!line.empty() && line[0] != ',')) {
      return BadRecord("column " + std::to_string(column + 1) + ": '" +
                       std::string(field.substr(0, 40)) + "' is no number");
    }
    if (static_cast<int64_t>(column) == label_at) {
      *label = value;
    } else if (stored++ < values.size()) {
      values[stored - 1] = value;
    }
    more = TakeCharacter(&line, ',');
  }
  if (stored == values.size() && static_cast<int64_t>(column) > label_at) {
    return {};
  }
  return runtime::Fail(StatusCode::kCorrupt, "%zu columns, expected %zu",
                       column, values.size() + (label_at >= 0 ? 1 : 0));
}

class Csv : public Source {
 public:
  Csv(const SourceRequest& request, const CsvOptions& options, Lines data,
      std::optional<Lines> labels)
      : data_(std::move(data)),
        labels_(std::move(labels)),
        label_column_(options.label_column),
        data_field_(FloatField(request.common.data_name, options.data_shape)),
        label_field_(FloatField(request.common.label_name, {})) {
    if (options.label_shape != Extents{1}) {
      label_field_.shape = options.label_shape;
    }
    columns_ = Count(data_field_);
    label_columns_ = Count(label_field_);
  }

  static size_t Count(const Field& field) {
    return static_cast<size_t>(
        *runtime::ArrayBytes(ElementType::kU8, field.shape));
  }

  int64_t size() const override { return data_.size(); }
  Provides sample_fields(int) const override {
    Provides provides{{data_field_}, {}};
    if (labels_ || label_column_ >= 0) provides.labels = {label_field_};
    return provides;
  }
  std::string SampleName(int64_t sample) const override {
    return "line " + std::to_string(data_.number(sample));
  }

  Status Read(const SampleRequest& request) const override {
    float ignored = 0;
    float* label = label_column_ >= 0 ? request.Floats(1, 1).data() : &ignored;
    Status parsed =
        ParseLine(data_.line(request.sample), request.Floats(0, columns_),
                  label_column_, label);
    const bool heading =
        request.sample == 0 && data_.number(0) == 1 && data_.size() > 1;
    if (!parsed.ok() && heading) {
      return {parsed.code(),
              parsed.message() + "; skip_lines=1 leaves headings out"};
    }
    MXC_RT_RETURN_IF_ERROR(parsed);
    if (!labels_) return {};
    return ReadLabels(request.sample, request.Floats(1, label_columns_));
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    float label = 0;
    if (labels_) {
      MXC_RT_RETURN_IF_ERROR(ReadLabels(sample, {&label, 1}));
      return label;
    }
    std::string_view line = data_.line(sample);
    for (int64_t column = 0; column < label_column_; ++column) {
      const size_t comma = line.find(',');
      if (comma == line.npos) return BadRecord("the label's column is missing");
      line.remove_prefix(comma + 1);
    }
    const std::string_view field = line.substr(0, line.find(','));
    if (TakeNumber(&line, &label)) return label;
    return BadRecord("the label '" + std::string(field.substr(0, 40)) +
                     "' is no number");
  }

 private:
  // Of the file with the labels.
  Status ReadLabels(int64_t sample, std::span<float> to) const {
    float ignored = 0;
    const Status status = ParseLine(labels_->line(sample), to, -1, &ignored);
    if (status.ok()) return status;
    return {status.code(), "its label in line " +
                               std::to_string(labels_->number(sample)) + ": " +
                               status.message()};
  }

  const Lines data_;
  const std::optional<Lines> labels_;
  const int64_t label_column_;
  Field data_field_, label_field_;
  size_t columns_ = 0, label_columns_ = 0;
};

// What the first line says, where data_shape is not given; as many numbers as
// the network takes have its axes.
StatusOr<Extents> ShapeOfLine(std::string_view line, const CsvOptions& options,
                              const Extents& taken) {
  const int64_t all = 1 + std::count(line.begin(), line.end(), ',');
  const int64_t columns = all - (options.label_column >= 0 ? 1 : 0);
  if (all <= options.label_column || columns == 0) {
    return runtime::Fail(
        StatusCode::kInvalidArgument,
        "the first line has %lld column%s, expected numbers with commas "
        "between, and label_column=%lld",
        static_cast<long long>(all), all == 1 ? "" : "s",
        static_cast<long long>(options.label_column));
  }
  const bool fits =
      !taken.empty() && runtime::ArrayBytes(ElementType::kU8, taken) == columns;
  return fits ? taken : Extents{columns};
}

StatusOr<std::unique_ptr<Source>> OpenCsv(const SourceRequest& request) {
  CsvOptions options;
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("csv", &options));
  auto data = Lines::Read(request.path, options.skip_lines);
  if (!data.ok()) return data.status();
  std::optional<Lines> labels;
  if (!options.label_csv.empty()) {
    if (options.label_column >= 0) {
      return Status(StatusCode::kInvalidArgument,
                    "label_csv and label_column exclude each other");
    }
    auto lines = Lines::Read(options.label_csv, options.skip_lines);
    if (!lines.ok()) return lines.status();
    if (lines->size() != data->size()) {
      return runtime::Fail(StatusCode::kInvalidArgument,
                           "%lld samples, but '%s' holds %lld labels",
                           static_cast<long long>(data->size()),
                           options.label_csv.c_str(),
                           static_cast<long long>(lines->size()));
    }
    labels = std::move(*lines);
  }
  if (data->size() == 0) return BadRecord("there are no lines");
  if (options.data_shape.empty()) {
    auto shape = ShapeOfLine(data->line(0), options, request.TakenShape());
    if (!shape.ok()) return shape.status();
    options.data_shape = std::move(*shape);
  }
  for (const Extents& shape : {options.data_shape, options.label_shape}) {
    const auto bytes = runtime::ArrayBytes(ElementType::kF32, shape);
    if (!bytes || *bytes == 0) {
      return Status(StatusCode::kInvalidArgument, "no sample has that shape");
    }
  }
  return std::unique_ptr<Source>(std::make_unique<Csv>(
      request, options, std::move(*data), std::move(labels)));
}

}  // namespace

extern const SourceKind kCsv;
const SourceKind kCsv = {"csv",
                         "csv:FILE",
                         "numbers with commas between, a sample in every line",
                         true,
                         DescribeOptions<CsvOptions>,
                         OpenCsv};

}  // namespace mxc::data
