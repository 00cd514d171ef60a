// SPDX-License-Identifier: Apache-2.0
// npy:x.npy,y.npy and npy:both.npz: arrays whose first axis counts the samples,
// as f32 whatever they were stored as.
//   x.npy,y.npy   data and label; y.npy may be left out
//   an archive    members named as the option `labels` says (or label, labels,
//                 softmax_label, y) are labels, the others data of their names
#include <algorithm>

#include "runtime/base/file.h"
#include "runtime/data/files/npz.h"
#include "runtime/data/source.h"
#include "runtime/formats/convert.h"

namespace mxc::data {
namespace {

struct NpyOptions {
  std::string labels;
  double scale = 1;

  template <class Fields>
  void Describe(Fields& f) {
    f("labels", labels, "members of an .npz that are labels: y,z");
    f("scale", scale, "the data are multiplied by it");
  }
};

struct Column {
  Field field;  // of a sample, f32
  NpzMember stored;
  size_t elements = 0;  // of a sample

  Column(std::string name, NpzMember member)
      : field(FloatField(std::move(name), {member.array.shape.begin() + 1,
                                           member.array.shape.end()})),
        stored(std::move(member)) {
    elements = static_cast<size_t>(
        *runtime::ArrayBytes(ElementType::kU8, field.shape));
  }
};

class NpySource : public Source {
 public:
  NpySource(std::vector<Column> data, std::vector<Column> labels, double scale)
      : data_(std::move(data)), labels_(std::move(labels)), scale_(scale) {}

  int64_t size() const override { return data_[0].stored.array.shape[0]; }
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
      ReadColumn(column, request.sample, to);
      if (scale_ == 1) continue;
      for (float& value : to) value *= static_cast<float>(scale_);
    }
    for (const Column& column : labels_) {
      ReadColumn(column, request.sample,
                 request.Floats(row++, column.elements));
    }
    return {};
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    float label = 0;
    ReadColumn(labels_[0], sample, {&label, 1});
    return label;
  }

 private:
  static void ReadColumn(const Column& column, int64_t sample,
                         std::span<float> to) {
    const runtime::NpyView& array = column.stored.array;
    const size_t bytes =
        column.elements * static_cast<size_t>(ElementBytes(array.type));
    runtime::ConvertElements(
        array.type,
        array.elements.subspan(static_cast<size_t>(sample) * bytes, bytes),
        ElementType::kF32, std::as_writable_bytes(to));
  }

  const std::vector<Column> data_, labels_;
  const double scale_;
};

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

StatusOr<NpzMember> ReadOne(const std::string& path) {
  auto file = ReadFile(path, uint64_t{1} << 36);
  if (!file.ok()) return file.status();
  auto array = runtime::ViewNpy(file->bytes);
  if (array.ok()) return NpzMember{path, std::move(*array), file->owner};
  return Status(array.status().code(),
                "'" + path + "': " + array.status().message());
}

struct Columns {
  std::vector<Column> data, labels;
};

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

StatusOr<Columns> ReadArchive(const std::string& path,
                              const NpyOptions& options) {
  auto members = ReadNpz(path);
  if (!members.ok()) return members.status();
  std::vector<std::string> names = SplitAtCommas(options.labels);
  for (const std::string& name : names) {
    const bool there =
        std::any_of(members->begin(), members->end(),
                    [&](const NpzMember& m) { return m.name == name; });
    if (there) continue;
    return Status(StatusCode::kInvalidArgument,
                  "the archive holds no '" + name + "'");
  }
  if (names.empty()) names = {"label", "labels", "softmax_label", "y"};
  Columns columns;
  for (NpzMember& member : *members) {
    MXC_RT_RETURN_IF_ERROR(CheckArray(member));
    const bool label =
        std::find(names.begin(), names.end(), member.name) != names.end();
    const std::string name = member.name;
    (label ? columns.labels : columns.data)
        .emplace_back(name, std::move(member));
  }
  return columns;
}

StatusOr<Columns> ReadFiles(const SourceRequest& request) {
  const std::vector<std::string> paths = SplitAtCommas(request.path);
  const std::string names[] = {request.common.data_name,
                               request.common.label_name};
  if (paths.empty() || paths.size() > 2) {
    return Status(StatusCode::kInvalidArgument,
                  "expected x.npy,y.npy, or one .npz");
  }
  Columns columns;
  for (size_t i = 0; i < paths.size(); ++i) {
    auto member = ReadOne(paths[i]);
    if (!member.ok()) return member.status();
    MXC_RT_RETURN_IF_ERROR(CheckArray(*member));
    (i == 0 ? columns.data : columns.labels)
        .emplace_back(names[i], std::move(*member));
  }
  return columns;
}

StatusOr<std::unique_ptr<Source>> OpenNpy(const SourceRequest& request) {
  NpyOptions options;
  if (request.trained != nullptr && request.trained->order.empty()) {
    options.scale = request.trained->scale;
  }
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("npy", &options));
  auto columns = request.path.ends_with(".npz")
                     ? ReadArchive(request.path, options)
                     : ReadFiles(request);
  if (!columns.ok()) return columns.status();
  if (columns->data.empty()) {
    return Status(StatusCode::kInvalidArgument, "there are labels only");
  }
  const NpzMember& first = columns->data[0].stored;
  for (const auto* some : {&columns->data, &columns->labels}) {
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
  return std::unique_ptr<Source>(std::make_unique<NpySource>(
      std::move(columns->data), std::move(columns->labels), options.scale));
}

}  // namespace

extern const SourceKind kNpy;
const SourceKind kNpy = {"npy",
                         "npy:x.npy,y.npy",
                         "NumPy arrays, data and labels, or one .npz of both",
                         true,
                         DescribeOptions<NpyOptions>,
                         OpenNpy};

}  // namespace mxc::data
