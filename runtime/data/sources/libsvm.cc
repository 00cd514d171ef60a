// SPDX-License-Identifier: Apache-2.0
// libsvm:FILE: "label index:value index:value …", a sample in every line; what
// is not named is 0. As MXNet 1.9.1's LibSVMIter (src/io/iter_libsvm.cc), but
// dense: indices count from 0 unless `indexing` says 1. Indices may stand in any
// order; of one that stands twice the last value counts. What follows "#", and
// the query "qid:3" of files for ranking, is left out.
//   data   f32[data_shape]     label   f32[label_shape], f32 for 1
// For a network that takes a csr matrix, the elements that a line names instead:
//   data_indices  i32[K], -1 for none     data_values  f32[K]
#include <algorithm>
#include <unordered_map>

#include "runtime/data/files/lines.h"
#include "runtime/data/source.h"

namespace mxc::data {
namespace {

constexpr int64_t kMostFeatures = int64_t{1} << 31;
// More has to be asked for by data_shape: one wild index in a file is a bad
// record, not a wide network.
constexpr int64_t kMostCountedFeatures = int64_t{1} << 22;

struct LibsvmOptions {
  Extents data_shape, label_shape = {1};
  std::string label_libsvm;
  int64_t indexing = 0;

  template <class Fields>
  void Describe(Fields& f) {
    f("data_shape", data_shape,
      "features; empty: as many as the network takes, or the file names",
      kAtLeast1);
    f("label_libsvm", label_libsvm, "file with the labels as sparse rows");
    f("label_shape", label_shape, "of a label in label_libsvm", kAtLeast1);
    f("indexing", indexing, "the first feature's index", Range{0, 1});
  }
};

constexpr std::string_view kQuery = "qid:";
constexpr char kComment = '#';

// Takes the labels off the front of the line; a row of label_libsvm may have
// none.
Status TakeLabels(std::string_view* line, std::vector<float>* labels) {
  for (;;) {
    std::string_view rest = *line;
    float label = 0;
    if (!TakeNumber(&rest, &label)) break;
    if (rest.starts_with(':')) return {};  // that was an index
    labels->push_back(label);
    *line = rest;
    TakeCharacter(line, ',');
  }
  return {};
}

// Calls `take` with every index, from 0, and value.
template <class Take>
Status ParseFeatures(std::string_view line, int64_t indexing,
                     const Take& take) {
  int64_t index = 0;
  if (line.starts_with(kQuery)) {
    std::string_view rest = line.substr(kQuery.size());
    if (!TakeIndex(&rest, &index)) {
      return BadRecord("'" + std::string(line.substr(0, line.find(' '))) +
                       "' is no query, expected qid:NUMBER");
    }
    line = rest;
  }
  while (!line.empty()) {
    const std::string_view field = line.substr(0, line.find(' '));
    float value = 0;
    if (!TakeIndex(&line, &index) || !TakeCharacter(&line, ':') ||
        !TakeNumber(&line, &value)) {
      return BadRecord("'" + std::string(field.substr(0, 40)) +
                       "' is no index:value");
    }
    if (index < indexing || index - indexing >= kMostFeatures) {
      return BadRecord("index " + std::to_string(index) + " is out of range");
    }
    MXC_RT_RETURN_IF_ERROR(take(index - indexing, value));
  }
  return {};
}

Status TooLarge(int64_t index, size_t features) {
  return BadRecord("index " + std::to_string(index) + " exceeds the " +
                   std::to_string(features) + " features");
}

Status FillRow(std::string_view line, int64_t indexing, std::span<float> row) {
  std::fill(row.begin(), row.end(), 0.0f);
  return ParseFeatures(line, indexing, [&](int64_t index, float value) {
    if (index >= static_cast<int64_t>(row.size())) {
      return TooLarge(index + indexing, row.size());
    }
    row[static_cast<size_t>(index)] = value;
    return Status();
  });
}

// Writes the columns and values that a line names, in order.
class CsrRow {
 public:
  CsrRow(std::span<int32_t> indices, std::span<float> values)
      : indices_(indices), values_(values) {
    std::fill(indices.begin(), indices.end(), -1);
    std::fill(values.begin(), values.end(), 0.0f);
  }

  Status Take(int64_t index, float value) {
    size_t at = count_;
    if (index <= last_) {
      for (size_t i = places_.size(); i < count_; ++i) {
        places_.emplace(indices_[i], i);
      }
      const auto place = places_.find(index);
      if (place != places_.end()) at = place->second;
    }
    if (at == indices_.size()) {
      return BadRecord("it names more than the " +
                       std::to_string(indices_.size()) +
                       " features of a sample that the network takes");
    }
    indices_[at] = static_cast<int32_t>(index);
    values_[at] = value;
    if (at == count_) ++count_;
    last_ = std::max(last_, index);
    return {};
  }

 private:
  const std::span<int32_t> indices_;
  const std::span<float> values_;
  size_t count_ = 0;
  int64_t last_ = -1;  // the largest so far
  // Where the first indices stand, as many as were there when one was not larger
  // than those before it.
  std::unordered_map<int64_t, size_t> places_;
};

// The network's inputs for the elements of a csr matrix of that name; none where
// it takes the matrix as it is.
std::vector<Field> CsrFields(const std::vector<Field>& taken,
                             const std::string& name) {
  std::vector<Field> fields;
  for (const auto& [suffix, type] : {std::pair("_indices", ElementType::kI32),
                                     std::pair("_values", ElementType::kF32)}) {
    const auto found = std::ranges::find(taken, name + suffix, &Field::name);
    if (found == taken.end() || found->shape.size() != 2) return {};
    fields.push_back({found->name, type, {found->shape[1]}});
  }
  const bool alike = fields[0].shape == fields[1].shape;
  return alike ? fields : std::vector<Field>();
}

class Libsvm : public Source {
 public:
  Libsvm(const SourceRequest& request, const LibsvmOptions& options, Lines data,
         std::optional<Lines> labels)
      : data_(std::move(data)),
        labels_(std::move(labels)),
        indexing_(options.indexing),
        data_fields_(CsrFields(request.takes, request.common.data_name)),
        label_field_(FloatField(request.common.label_name, {})) {
    if (options.label_shape != Extents{1}) {
      label_field_.shape = options.label_shape;
    }
    features_ = static_cast<size_t>(
        *runtime::ArrayBytes(ElementType::kU8, options.data_shape));
    if (data_fields_.empty()) {
      data_fields_ = {FloatField(request.common.data_name, options.data_shape)};
    }
    label_width_ = static_cast<size_t>(
        *runtime::ArrayBytes(ElementType::kU8, label_field_.shape));
  }

  int64_t size() const override { return data_.size(); }
  Provides sample_fields(int) const override {
    return {data_fields_, {label_field_}};
  }
  std::string SampleName(int64_t sample) const override {
    return "line " + std::to_string(data_.number(sample));
  }

  Status Read(const SampleRequest& request) const override {
    std::string_view line = data_.line(request.sample);
    const size_t labels = data_fields_.size();
    MXC_RT_RETURN_IF_ERROR(ReadLabels(request.sample, &line,
                                      request.Floats(labels, label_width_)));
    if (labels > 1) return ReadElements(line, request);
    return FillRow(line, indexing_, request.Floats(0, features_));
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    std::string_view line = data_.line(sample);
    float label = 0;
    MXC_RT_RETURN_IF_ERROR(ReadLabels(sample, &line, {&label, 1}));
    return label;
  }

 private:
  Status ReadElements(std::string_view line,
                      const SampleRequest& request) const {
    const auto most = static_cast<size_t>(data_fields_[0].shape[0]);
    CsrRow row({reinterpret_cast<int32_t*>(request.rows[0]), most},
               request.Floats(1, most));
    return ParseFeatures(line, indexing_, [&](int64_t index, float value) {
      if (index >= static_cast<int64_t>(features_)) {
        return TooLarge(index + indexing_, features_);
      }
      return row.Take(index, value);
    });
  }

  // Takes the labels off the sample's line, even those that another file tells.
  Status ReadLabels(int64_t sample, std::string_view* line,
                    std::span<float> to) const {
    std::vector<float> own;
    MXC_RT_RETURN_IF_ERROR(TakeLabels(line, &own));
    if (labels_) {
      std::string_view row = labels_->line(sample);
      std::vector<float> ignored;
      MXC_RT_RETURN_IF_ERROR(TakeLabels(&row, &ignored));
      return FillRow(row, indexing_, to);
    }
    if (own.size() != to.size()) {
      return BadRecord(std::to_string(own.size()) + " labels, expected " +
                       std::to_string(to.size()));
    }
    std::copy(own.begin(), own.end(), to.begin());
    return {};
  }

  const Lines data_;
  const std::optional<Lines> labels_;
  const int64_t indexing_;
  std::vector<Field> data_fields_;
  Field label_field_;
  size_t features_ = 0, label_width_ = 0;
};

// The largest index that any sound line names, and one more.
int64_t CountFeatures(const Lines& lines, int64_t indexing) {
  int64_t count = 1;
  for (int64_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines.line(i);
    std::vector<float> labels;
    int64_t largest = 0;
    const auto take = [&](int64_t index, float) {
      largest = std::max(largest, index);
      return Status();
    };
    if (TakeLabels(&line, &labels).ok() &&
        ParseFeatures(line, indexing, take).ok()) {
      count = std::max(count, std::min(largest + 1, kMostCountedFeatures));
    }
  }
  return count;
}

// Lines of more features than the network takes of a sample are no damage of the
// file.
Status RequireFew(const Lines& lines, int64_t indexing, size_t most) {
  for (int64_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines.line(i);
    std::vector<float> labels;
    std::vector<int64_t> named;
    const auto take = [&](int64_t index, float) {
      named.push_back(index);
      return Status();
    };
    if (!TakeLabels(&line, &labels).ok() ||
        !ParseFeatures(line, indexing, take).ok() || named.size() <= most) {
      continue;
    }
    std::ranges::sort(named);
    named.erase(std::ranges::unique(named).begin(), named.end());
    if (named.size() <= most) continue;
    return runtime::Fail(
        StatusCode::kInvalidArgument,
        "line %lld names %zu features, but the network takes at most %zu of a "
        "sample",
        static_cast<long long>(lines.number(i)), named.size(), most);
  }
  return {};
}

// A file may lack the last features that a network takes.
Extents ShapeOf(int64_t features, const Extents& taken) {
  const auto room = runtime::ArrayBytes(ElementType::kU8, taken);
  return !taken.empty() && room && *room >= features ? taken
                                                     : Extents{features};
}

StatusOr<std::unique_ptr<Source>> OpenLibsvm(const SourceRequest& request) {
  LibsvmOptions options;
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("libsvm", &options));
  auto data = Lines::Read(request.path, 0, kComment);
  if (!data.ok()) return data.status();
  std::optional<Lines> labels;
  if (!options.label_libsvm.empty()) {
    auto lines = Lines::Read(options.label_libsvm, 0, kComment);
    if (!lines.ok()) return lines.status();
    if (lines->size() != data->size()) {
      return runtime::Fail(StatusCode::kInvalidArgument,
                           "%lld samples, but '%s' holds %lld labels",
                           static_cast<long long>(data->size()),
                           options.label_libsvm.c_str(),
                           static_cast<long long>(lines->size()));
    }
    labels = std::move(*lines);
  }
  const std::vector<Field> csr =
      CsrFields(request.takes, request.common.data_name);
  if (!csr.empty()) {
    MXC_RT_RETURN_IF_ERROR(RequireFew(*data, options.indexing,
                                      static_cast<size_t>(csr[0].shape[0])));
    // Nothing is as long as that.
    if (options.data_shape.empty()) options.data_shape = {kMostFeatures - 1};
  } else if (options.data_shape.empty()) {
    options.data_shape =
        ShapeOf(CountFeatures(*data, options.indexing), request.TakenShape());
  }
  for (const Extents& shape : {options.data_shape, options.label_shape}) {
    if (!runtime::ArrayBytes(ElementType::kF32, shape)) {
      return Status(StatusCode::kInvalidArgument, "no sample has that shape");
    }
  }
  return std::unique_ptr<Source>(std::make_unique<Libsvm>(
      request, options, std::move(*data), std::move(labels)));
}

}  // namespace

extern const SourceKind kLibsvm;
const SourceKind kLibsvm = {"libsvm",
                            "libsvm:FILE",
                            "sparse rows: label index:value …",
                            true,
                            DescribeOptions<LibsvmOptions>,
                            OpenLibsvm};

}  // namespace mxc::data
