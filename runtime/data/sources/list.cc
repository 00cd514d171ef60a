// SPDX-License-Identifier: Apache-2.0
// list:FILE: lines "path label", as Caffe's ImageData layer and convert_imageset
// take them (image_data_layer.cpp of BVLC/caffe); the first channel is blue.
//   data   [data_shape] of dtype     label   f32
#include <algorithm>
#include <map>

#include "runtime/base/file.h"
#include "runtime/base/remote_files.h"
#include "runtime/data/files/lines.h"
#include "runtime/data/files/remote_folder.h"
#include "runtime/data/picture/transform.h"
#include "runtime/data/source.h"

namespace mxc::data {
namespace {

struct ListOptions {
  PictureOptions picture;
  int64_t crop_size = 0, channels = 3;
  Extents stretch;
  std::string root;

  ListOptions() { picture.blue_first = true; }

  template <class Fields>
  void Describe(Fields& f) {
    picture.Describe(f);
    f("root", root, "what paths that are not absolute begin with");
    f("stretch", stretch, "height, width that pictures get before cropping",
      Range{1, 16384});
    f("crop_size", crop_size,
      "height and width of what is cut out, where data_shape says nothing",
      Range{0, 16384});
    f("channels", channels, "1 or 3, where data_shape says nothing",
      Range{1, 3});
  }
};

struct Listed {
  std::string path;
  float label = 0;
  std::optional<size_t> remote;  // its number in the folder on a server
};

// The label stands behind the last blank.
StatusOr<std::vector<Listed>> ReadList(const std::string& path,
                                       const std::string& root) {
  const auto lines = Lines::Read(path, 0);
  if (!lines.ok()) return lines.status();
  std::vector<Listed> list;
  for (int64_t i = 0; i < lines->size(); ++i) {
    std::string_view line = lines->line(i);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) {
      line.remove_suffix(1);
    }
    if (line.empty()) continue;
    const size_t blank = line.find_last_of(" \t");
    Listed listed;
    std::string_view label =
        blank == line.npos ? std::string_view() : line.substr(blank + 1);
    if (blank == 0 || !TakeNumber(&label, &listed.label) || !label.empty()) {
      return runtime::Fail(
          StatusCode::kCorrupt, "'%s': line %lld: expected a path and a label",
          path.c_str(), static_cast<long long>(lines->number(i)));
    }
    const size_t end = line.find_last_not_of(" \t", blank);
    listed.path = line.substr(0, end == line.npos ? 0 : end + 1);
    if (!root.empty() && !listed.path.starts_with('/') &&
        listed.path.find("://") == listed.path.npos) {
      listed.path = root + (root.ends_with('/') ? "" : "/") + listed.path;
    }
    list.push_back(std::move(listed));
  }
  return list;
}

// What a server lists below `root`, of which `list` names files; nothing where it
// lists nothing.
StatusOr<std::optional<RemoteFolder>> OpenRoot(const std::string& root,
                                               std::vector<Listed>& list) {
  MXC_RT_ASSIGN(const runtime::FilePlace place, runtime::PlaceOf(root));
  if (place.remote == nullptr) return std::optional<RemoteFolder>();
  auto listed = place.remote->ListBelow(root);
  if (listed.status().code() == StatusCode::kUnsupported) {
    return std::optional<RemoteFolder>();
  }
  MXC_RT_RETURN_IF_ERROR(listed.status());
  const size_t begin = root.size() + (root.ends_with('/') ? 0 : 1);
  std::vector<runtime::ListedFile> files;
  std::map<std::string, size_t> numbers;
  for (Listed& picture : list) {
    if (!picture.path.starts_with(root)) continue;
    const std::string name = picture.path.substr(begin);
    const auto found =
        std::ranges::lower_bound(*listed, name, {}, &runtime::ListedFile::name);
    if (found == listed->end() || found->name != name) continue;
    const auto [number, added] = numbers.emplace(name, files.size());
    if (added) files.push_back(*found);
    picture.remote = number->second;
  }
  MXC_RT_ASSIGN(RemoteFolder opened,
                RemoteFolder::Open(*place.remote, root, std::move(files)));
  return std::optional(std::move(opened));
}

class ListedPictures : public Source {
 public:
  ListedPictures(const SourceRequest& request, std::vector<Listed> list,
                 std::optional<RemoteFolder> remote, PictureTransform transform,
                 Extents stretch)
      : list_(std::move(list)),
        remote_(std::move(remote)),
        transform_(std::move(transform)),
        stretch_(std::move(stretch)),
        names_{request.common.data_name, request.common.label_name} {}

  int64_t size() const override { return std::ssize(list_); }
  uint64_t WillRead(int64_t sample) const override {
    const auto& number = list_[static_cast<size_t>(sample)].remote;
    return number ? remote_->WillRead(*number) : 0;
  }
  bool complete() const override { return !remote_ || remote_->complete(); }
  Preprocessing preprocessing() const override {
    return transform_.preprocessing();
  }
  Provides sample_fields(int) const override {
    return {{transform_.field(names_[0])}, {FloatField(names_[1], {})}};
  }
  std::string SampleName(int64_t sample) const override {
    return list_[static_cast<size_t>(sample)].path;
  }

  Status Read(const SampleRequest& request) const override {
    const Listed& listed = list_[static_cast<size_t>(request.sample)];
    request.Floats(1, 1)[0] = listed.label;
    Picture picture;
    MXC_RT_RETURN_IF_ERROR(Decode(listed, &picture));
    if (!stretch_.empty()) {
      picture = ResizeBilinear(picture, static_cast<int>(stretch_[1]),
                               static_cast<int>(stretch_[0]));
    }
    return transform_.Apply(std::move(picture), Draws(request.random),
                            request.rows[0]);
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    return list_[static_cast<size_t>(sample)].label;
  }

 private:
  Status Decode(const Listed& listed, Picture* picture) const {
    constexpr uint64_t kMostBytes = uint64_t{1} << 30;
    if (listed.remote) {
      MXC_RT_ASSIGN(const runtime::Bytes file, remote_->Read(*listed.remote));
      return transform_.Decode(file, picture);
    }
    const auto file = runtime::ReadWholeFile(listed.path, kMostBytes);
    if (file.ok()) return transform_.Decode(*file, picture);
    // Another picture in the place of one that a server will give later would be
    // another epoch.
    const bool passing = file.status().code() != StatusCode::kNotFound &&
                         listed.path.find("://") != listed.path.npos;
    return {passing ? StatusCode::kUnsupported : file.status().code(),
            file.status().message()};
  }

  const std::vector<Listed> list_;
  const std::optional<RemoteFolder> remote_;
  const PictureTransform transform_;
  const Extents stretch_;
  const std::string names_[2];
};

StatusOr<std::unique_ptr<Source>> OpenList(const SourceRequest& request) {
  ListOptions options;
  if (request.trained != nullptr) options.picture.Take(*request.trained);
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("list", &options));
  if (!options.stretch.empty() && options.stretch.size() != 2) {
    return Status(StatusCode::kInvalidArgument,
                  "stretch is " + SettingText(options.stretch) +
                      ", expected height, width");
  }
  Extents& shape = options.picture.data_shape;
  if (shape.empty() && options.crop_size > 0) {
    shape = {options.channels, options.crop_size, options.crop_size};
  }
  if (shape.empty() && !options.stretch.empty()) {
    shape = {options.channels, options.stretch[0], options.stretch[1]};
  }
  if (shape.empty()) shape = request.TakenShape();
  auto transform = PictureTransform::Make(options.picture, "list");
  if (!transform.ok()) return transform.status();
  auto list = ReadList(request.path, options.root);
  if (!list.ok()) return list.status();
  if (list->empty()) return BadRecord("the list has no lines");
  MXC_RT_ASSIGN(auto remote, OpenRoot(options.root, *list));
  return std::unique_ptr<Source>(std::make_unique<ListedPictures>(
      request, std::move(*list), std::move(remote), std::move(*transform),
      options.stretch));
}

}  // namespace

extern const SourceKind kList;
const SourceKind kList = {"list",
                          "list:FILE",
                          "JPEG and PNG pictures, lines of \"path label\"",
                          true,
                          DescribeOptions<ListOptions>,
                          OpenList};

}  // namespace mxc::data
