// SPDX-License-Identifier: Apache-2.0
// folder:DIR: DIR/CLASS/…/*.jpg, *.jpeg, *.png; classes are numbered in the
// order of their names, or as the model's label names say.
//   data   [data_shape] of dtype     label   f32
#include <algorithm>
#include <filesystem>
#include <map>

#include "runtime/base/file.h"
#include "runtime/data/picture/transform.h"
#include "runtime/data/source.h"

namespace mxc::data {
namespace {

namespace fs = std::filesystem;

struct FolderOptions {
  PictureOptions picture;

  template <class Fields>
  void Describe(Fields& f) {
    picture.Describe(f);
  }
};

struct Picked {
  std::string path;  // below the folder
  int label = 0;
};

bool HasPictureName(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

// What `folder` holds, sorted by name; folders, or pictures at any depth.
StatusOr<std::vector<std::string>> ListClasses(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (at->is_directory(ignored) && !name.starts_with('.')) {
      names.push_back(name);
    }
  }
  if (error) {
    return runtime::Fail(StatusCode::kNotFound, "cannot list the folder: %s",
                         error.message().c_str());
  }
  std::sort(names.begin(), names.end());
  return names;
}

StatusOr<std::vector<std::string>> ListPictures(const std::string& folder,
                                                const std::string& name) {
  std::vector<std::string> paths;
  std::error_code error;
  const fs::path top = fs::path(folder) / name;
  for (fs::recursive_directory_iterator at(top, error), end;
       !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (HasPictureName(at->path()) && at->is_regular_file(ignored)) {
      paths.push_back(at->path().lexically_relative(folder).string());
    }
  }
  if (error) {
    return runtime::Fail(StatusCode::kIo, "cannot list '%s': %s",
                         top.string().c_str(), error.message().c_str());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Folder : public Source {
 public:
  Folder(const SourceRequest& request, PictureTransform transform,
         std::vector<std::string> classes, std::vector<Picked> pictures)
      : transform_(std::move(transform)),
        folder_(request.path),
        classes_(std::move(classes)),
        pictures_(std::move(pictures)),
        names_{request.common.data_name, request.common.label_name} {}

  int64_t size() const override {
    return static_cast<int64_t>(pictures_.size());
  }
  Preprocessing preprocessing() const override {
    return transform_.preprocessing();
  }
  Provides sample_fields(int) const override {
    return {{transform_.field(names_[0])}, {FloatField(names_[1], {})}};
  }
  std::vector<std::string> label_names() const override { return classes_; }
  std::string SampleName(int64_t sample) const override {
    return pictures_[static_cast<size_t>(sample)].path;
  }

  Status Read(const SampleRequest& request) const override {
    const Picked& picked = pictures_[static_cast<size_t>(request.sample)];
    const auto file = runtime::MappedFile::Open(folder_ + "/" + picked.path);
    if (!file.ok()) return file.status();
    Picture picture;
    MXC_RT_RETURN_IF_ERROR(
        DecodePicture(file->bytes(), transform_.channels(), &picture));
    request.Floats(1, 1)[0] = static_cast<float>(picked.label);
    return transform_.Apply(std::move(picture), Draws(request.random),
                            request.rows[0]);
  }

 private:
  const PictureTransform transform_;
  const std::string folder_;
  const std::vector<std::string> classes_;
  const std::vector<Picked> pictures_;
  const std::string names_[2];
};

// The numbers of `found`; refuses a class that the model does not know.
StatusOr<std::map<std::string, int>> NumberClasses(
    const std::vector<std::string>& found,
    const std::vector<std::string>& known) {
  std::map<std::string, int> numbers;
  for (size_t i = 0; i < known.size(); ++i) {
    numbers.emplace(known[i], static_cast<int>(i));
  }
  for (const std::string& name : found) {
    if (numbers.contains(name)) continue;
    return Status(StatusCode::kInvalidArgument,
                  "the model was not trained on a class '" + name + "'");
  }
  return numbers;
}

StatusOr<std::unique_ptr<Source>> OpenFolder(const SourceRequest& request) {
  FolderOptions options;
  if (request.trained != nullptr) options.picture.Take(*request.trained);
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("folder", &options));
  if (options.picture.data_shape.empty()) {
    options.picture.data_shape = request.TakenShape();
  }
  const auto found = ListClasses(request.path);
  if (!found.ok()) return found.status();
  auto transform = PictureTransform::Make(options.picture, "folder");
  if (!transform.ok()) return transform.status();
  const std::vector<std::string> classes =
      request.label_names.empty() ? *found : request.label_names;
  const auto numbers = NumberClasses(*found, classes);
  if (!numbers.ok()) return numbers.status();
  std::vector<Picked> pictures;
  for (const std::string& name : *found) {
    const auto paths = ListPictures(request.path, name);
    if (!paths.ok()) return paths.status();
    for (const std::string& path : *paths) {
      pictures.push_back({path, numbers->at(name)});
    }
  }
  if (pictures.empty()) {
    const auto own = ListPictures(request.path, ".");
    const bool bare = found->empty() && own.ok() && !own->empty();
    return Status(StatusCode::kNotFound,
                  bare ? "its pictures are in no subfolder, which would be "
                         "their class; expected DIR/CLASS/PICTURE.jpg"
                       : "no JPEG or PNG in it; expected "
                         "DIR/CLASS/PICTURE.jpg");
  }
  return std::unique_ptr<Source>(std::make_unique<Folder>(
      request, std::move(*transform), classes, std::move(pictures)));
}

}  // namespace

extern const SourceKind kFolder;
const SourceKind kFolder = {"folder",
                            "folder:DIR",
                            "JPEG and PNG pictures, a subfolder for each class",
                            true,
                            DescribeOptions<FolderOptions>,
                            OpenFolder};

}  // namespace mxc::data
