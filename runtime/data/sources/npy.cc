// SPDX-License-Identifier: Apache-2.0
// npy:x.npy,y.npy and npy:both.npz: arrays whose first axis counts the samples,
// as f32 whatever they were stored as.
//   x.npy,y.npy   data and label; y.npy may be left out
//   an archive    members named as the option `labels` says (or label, labels,
//                 softmax_label, y) are labels, the others data of their names
#include <algorithm>

#include "runtime/base/file.h"
#include "runtime/data/columns.h"
#include "runtime/data/files/open_each.h"

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
  auto file = ReadFileInParts(path, uint64_t{1} << 36);
  if (!file.ok()) return file.status();
  auto array = runtime::ViewNpy(file->bytes);
  if (array.ok()) {
    return NpzMember{path, std::move(*array), file->owner, file->arriving};
  }
  return Status(array.status().code(),
                "'" + path + "': " + array.status().message());
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
  auto members = OpenEach(paths.back(), paths.size(),
                          [&](size_t i) { return ReadOne(paths[i]); });
  Columns columns;
  for (size_t i = 0; i < paths.size(); ++i) {
    auto member = members[i].get();
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
  return SourceOf(std::move(*columns), options.scale, "record");
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
