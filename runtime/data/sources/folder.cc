// SPDX-License-Identifier: Apache-2.0
// folder:DIR: DIR/CLASS/…/*.jpg, *.jpeg, *.png; classes are numbered in the
// order of their names, or as the model's label names say. A folder without
// pictures is no class, and what is hidden (".…") is not looked at.
//   data   [data_shape] of dtype     label   f32
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>

#include "runtime/base/file.h"
#include "runtime/base/joined.h"
#include "runtime/base/remote_files.h"
#include "runtime/data/files/remote_folder.h"
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

constexpr uint64_t kMostPictureBytes = uint64_t{1} << 30;
constexpr size_t kMostNamed = 3;

constexpr auto kDecoded =
    std::to_array<std::string_view>({".jpg", ".jpeg", ".jpe", ".jfif", ".png"});
constexpr auto kOthers = std::to_array<std::string_view>(
    {".apng", ".avif", ".bmp", ".dng", ".gif", ".heic", ".heif", ".jp2", ".jxl",
     ".pbm", ".pgm", ".ppm", ".svg", ".tga", ".tif", ".tiff", ".webp"});

std::string ExtensionOf(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

bool IsHidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

// Files below a folder, by their paths there, sorted.
struct Found {
  std::vector<std::string> pictures, others;  // of formats that are not read
};

bool IsDecoded(const fs::path& path) {
  return std::ranges::find(kDecoded, ExtensionOf(path)) != kDecoded.end();
}

// "3 files are neither JPEG nor PNG: a.webp, b.gif, …"
std::string Counted(const std::vector<std::string>& paths, const char* one,
                    const char* several, const char* what) {
  if (paths.empty()) return "";
  const size_t named = std::min(paths.size(), kMostNamed);
  std::string names = runtime::Joined(std::span(paths).first(named), ", ");
  if (paths.size() > kMostNamed) names += ", …";
  return std::to_string(paths.size()) + (paths.size() == 1 ? one : several) +
         what + names;
}

std::string OthersText(const std::vector<std::string>& others) {
  return Counted(others, " file is", " files are", " neither JPEG nor PNG: ");
}

// The folders in `folder`, sorted by name.
StatusOr<std::vector<std::string>> ListFolders(const std::string& folder) {
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

// The pictures in `folder` itself, sorted by name.
std::vector<std::string> ListLoose(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (!IsHidden(at->path()) && at->is_regular_file(ignored) &&
        IsDecoded(at->path())) {
      names.push_back(at->path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

// At any depth. A link to nothing is a picture that cannot be read.
StatusOr<Found> ListPictures(const std::string& folder,
                             const std::string& name) {
  Found found;
  std::error_code error;
  const fs::path top = fs::path(folder) / name;
  for (fs::recursive_directory_iterator at(top, error), end;
       !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const bool dead = at->is_symlink(ignored) && !at->exists(ignored);
    if (IsHidden(at->path()) || (!dead && !at->is_regular_file(ignored))) {
      continue;
    }
    const std::string extension = ExtensionOf(at->path());
    std::string path = at->path().lexically_relative(folder).string();
    if (IsDecoded(at->path())) {
      found.pictures.push_back(std::move(path));
    } else if (std::ranges::find(kOthers, extension) != kOthers.end()) {
      found.others.push_back(std::move(path));
    }
  }
  if (error) {
    return runtime::Fail(StatusCode::kIo, "cannot list '%s': %s",
                         top.string().c_str(), error.message().c_str());
  }
  std::ranges::sort(found.pictures);
  std::ranges::sort(found.others);
  return found;
}

using RemoteList = std::vector<runtime::ListedFile>;

class Folder : public Source {
 public:
  Folder(const SourceRequest& request, PictureTransform transform,
         std::string folder, std::optional<RemoteFolder> remote,
         std::vector<std::string> classes, std::vector<Picked> pictures,
         std::string remark)
      : transform_(std::move(transform)),
        folder_(std::move(folder)),
        remote_(std::move(remote)),
        classes_(std::move(classes)),
        pictures_(std::move(pictures)),
        remark_(std::move(remark)),
        names_{request.common.data_name, request.common.label_name} {}

  int64_t size() const override {
    return static_cast<int64_t>(pictures_.size());
  }
  uint64_t WillRead(int64_t sample) const override {
    return remote_ ? remote_->WillRead(static_cast<size_t>(sample)) : 0;
  }
  bool complete() const override { return !remote_ || remote_->complete(); }
  Preprocessing preprocessing() const override {
    return transform_.preprocessing();
  }
  Provides sample_fields(int) const override {
    return {{transform_.field(names_[0])}, {FloatField(names_[1], {})}};
  }
  std::vector<std::string> label_names() const override { return classes_; }
  std::string remark() const override { return remark_; }
  std::string SampleName(int64_t sample) const override {
    return pictures_[static_cast<size_t>(sample)].path;
  }

  Status Read(const SampleRequest& request) const override {
    const auto number = static_cast<size_t>(request.sample);
    Picture picture;
    MXC_RT_RETURN_IF_ERROR(Decode(number, &picture));
    request.Floats(1, 1)[0] = static_cast<float>(pictures_[number].label);
    return transform_.Apply(std::move(picture), Draws(request.random),
                            request.rows[0]);
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    return static_cast<float>(pictures_[static_cast<size_t>(sample)].label);
  }

 private:
  Status Decode(size_t number, Picture* picture) const {
    if (remote_) {
      MXC_RT_ASSIGN(const runtime::Bytes file, remote_->Read(number));
      return transform_.Decode(file, picture);
    }
    // Copied, so that a file which is cut meanwhile is a damaged picture.
    MXC_RT_ASSIGN(const auto file,
                  runtime::ReadWholeFile(folder_ + "/" + pictures_[number].path,
                                         kMostPictureBytes));
    return transform_.Decode(file, picture);
  }

  const PictureTransform transform_;
  const std::string folder_;
  const std::optional<RemoteFolder> remote_;  // of the pictures, in their order
  const std::vector<std::string> classes_;
  const std::vector<Picked> pictures_;
  const std::string remark_;
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

// What stands in the subfolders: those with pictures are classes.
struct Listing {
  std::vector<std::string> classes;
  std::vector<Found> found;                       // of each class
  std::vector<std::string> empty, others, loose;  // loose: in none of them
};

// The same of a folder on a server, whose files are sorted.
Listing ListingOf(const RemoteList& files) {
  Listing listing;
  std::map<std::string, Found> folders;
  for (const runtime::ListedFile& file : files) {
    const fs::path path(file.name);
    const size_t slash = file.name.find('/');
    const bool loose = slash == file.name.npos;
    if (IsHidden(path) || file.name.starts_with('.')) continue;
    if (loose) {
      if (IsDecoded(path)) listing.loose.push_back(file.name);
      continue;
    }
    Found& found = folders[file.name.substr(0, slash)];
    if (IsDecoded(path)) {
      found.pictures.push_back(file.name);
    } else if (std::ranges::find(kOthers, ExtensionOf(path)) != kOthers.end()) {
      found.others.push_back(file.name);
    }
  }
  for (auto& [name, found] : folders) {
    listing.others.insert(listing.others.end(), found.others.begin(),
                          found.others.end());
    if (found.pictures.empty()) {
      listing.empty.push_back(name);
      continue;
    }
    listing.classes.push_back(name);
    listing.found.push_back(std::move(found));
  }
  return listing;
}

StatusOr<Listing> List(const std::string& folder) {
  const auto names = ListFolders(folder);
  if (!names.ok()) return names.status();
  Listing listing;
  listing.loose = ListLoose(folder);
  for (const std::string& name : *names) {
    auto found = ListPictures(folder, name);
    if (!found.ok()) return found.status();
    listing.others.insert(listing.others.end(), found->others.begin(),
                          found->others.end());
    if (found->pictures.empty()) {
      listing.empty.push_back(name);
      continue;
    }
    listing.classes.push_back(name);
    listing.found.push_back(std::move(*found));
  }
  return listing;
}

// "'a' and 'b' have no pictures and are no classes; …"
std::string RemarkOf(const Listing& listing) {
  std::string text;
  for (size_t i = 0; i < std::min(listing.empty.size(), kMostNamed); ++i) {
    text += (i == 0 ? "'" : ", '") + listing.empty[i] + "'";
  }
  if (listing.empty.size() > kMostNamed) {
    text +=
        " and " + std::to_string(listing.empty.size() - kMostNamed) + " others";
  }
  if (!text.empty()) {
    text += listing.empty.size() == 1 ? " has no pictures and is no class"
                                      : " have no pictures and are no classes";
  }
  for (const std::string& more :
       {OthersText(listing.others),
        Counted(listing.loose, " picture is", " pictures are",
                " in no subfolder, which would be the class: ")}) {
    text += (text.empty() || more.empty() ? "" : "; ") + more;
  }
  return text;
}

Status NoPictures(const Listing& listing) {
  const bool bare = listing.classes.empty() && listing.empty.empty() &&
                    !listing.loose.empty();
  const std::string others = OthersText(listing.others);
  return {StatusCode::kNotFound,
          bare ? "its pictures are in no subfolder, which would be "
                 "their class; expected DIR/CLASS/PICTURE.jpg"
               : "no JPEG or PNG in it; expected DIR/CLASS/PICTURE.jpg" +
                     (others.empty() ? "" : "; " + others)};
}

// The pictures, which are `picked` from what was listed.
StatusOr<std::optional<RemoteFolder>> OpenRemote(
    const runtime::FilePlace& place, const std::string& folder,
    const RemoteList& listed, const std::vector<Picked>& picked) {
  if (place.remote == nullptr) return std::optional<RemoteFolder>();
  RemoteList files;
  for (const Picked& picture : picked) {
    const auto found = std::ranges::lower_bound(listed, picture.path, {},
                                                &runtime::ListedFile::name);
    files.push_back(*found);
  }
  MXC_RT_ASSIGN(RemoteFolder opened,
                RemoteFolder::Open(*place.remote, folder, std::move(files)));
  return std::optional(std::move(opened));
}

StatusOr<std::unique_ptr<Source>> OpenFolder(const SourceRequest& request) {
  FolderOptions options;
  if (request.trained != nullptr) options.picture.Take(*request.trained);
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("folder", &options));
  if (options.picture.data_shape.empty()) {
    options.picture.data_shape = request.TakenShape();
  }
  MXC_RT_ASSIGN(const runtime::FilePlace place, runtime::PlaceOf(request.path));
  RemoteList listed;
  if (place.remote != nullptr) {
    MXC_RT_ASSIGN(listed, place.remote->ListBelow(request.path));
  }
  const auto listing = place.remote != nullptr
                           ? StatusOr<Listing>(ListingOf(listed))
                           : List(place.path);
  if (!listing.ok()) return listing.status();
  auto transform = PictureTransform::Make(options.picture, "folder");
  if (!transform.ok()) return transform.status();
  const std::vector<std::string> classes =
      request.label_names.empty() ? listing->classes : request.label_names;
  const auto numbers = NumberClasses(listing->classes, classes);
  if (!numbers.ok()) return numbers.status();
  std::vector<Picked> pictures;
  for (size_t i = 0; i < listing->classes.size(); ++i) {
    for (const std::string& path : listing->found[i].pictures) {
      pictures.push_back({path, numbers->at(listing->classes[i])});
    }
  }
  if (pictures.empty()) return NoPictures(*listing);
  MXC_RT_ASSIGN(auto remote, OpenRemote(place, request.path, listed, pictures));
  return std::unique_ptr<Source>(std::make_unique<Folder>(
      request, std::move(*transform), place.path, std::move(remote), classes,
      std::move(pictures), RemarkOf(*listing)));
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
