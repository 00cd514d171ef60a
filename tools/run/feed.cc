// SPDX-License-Identifier: Apache-2.0
#include "tools/run/feed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include "runtime/base/file.h"
#include "runtime/base/visible.h"
#include "runtime/formats/convert.h"
#include "runtime/formats/npy.h"
#include "tools/run/failure.h"
#include "tools/run/input_file.h"
#include "tools/run/output.h"
#include "tools/run/picture.h"
#include "tools/run/session.h"

namespace mxc::run {
namespace {

// A pixel of an integer type is the nearest one that there is.
void RoundPixels(mxc_dtype dtype, std::span<float> values) {
  const bool bytes = dtype == MXC_U8 || dtype == MXC_I8;
  const float least = dtype == MXC_U8 ? 0 : -128;
  const float most = dtype == MXC_U8 ? 255 : 127;
  for (float& value : values) {
    value = std::nearbyint(value);
    if (bytes) value = std::clamp(value, least, most);
  }
}

void FillWithPictures(const mxc_tensor& tensor, std::span<std::byte> memory,
                      const std::vector<std::string>& files,
                      const PictureOptions& options) {
  const Frame frame = FrameOf(tensor, options.layout);
  if (static_cast<int64_t>(files.size()) != frame.pictures) {
    throw Failure("input '" + std::string(tensor.name) + "' " +
                  Describe(tensor) + " takes " +
                  std::to_string(frame.pictures) + " pictures, but " +
                  std::to_string(files.size()) + " are given");
  }
  const size_t size = memory.size() / mxc_dtype_size(tensor.dtype) /
                      static_cast<size_t>(frame.pictures);
  std::vector<float> values(size * files.size());
  for (size_t n = 0; n < files.size(); ++n) {
    FillFrame(files[n], frame, options,
              std::span(values).subspan(n * size, size));
  }
  if (!IsFloat(TypeOf(tensor))) RoundPixels(tensor.dtype, values);
  runtime::ConvertElements(runtime::ElementType::kF32,
                           std::as_bytes(std::span(values)), TypeOf(tensor),
                           memory);
}

// The shape without the ones that lead it: a file may lack the batch axis.
std::vector<int64_t> Core(std::span<const int64_t> shape) {
  const auto begin = std::find_if(shape.begin(), shape.end(),
                                  [](int64_t dim) { return dim != 1; });
  return {begin, shape.end()};
}

// Not a picture: says which formats are read where it is no array either.
void RequireArray(const std::string& file) {
  const auto mapped = Take(OpenInput(file));
  const auto bytes = mapped.bytes();
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 16));
  constexpr std::string_view kNpy = "\x93NUMPY";
  if (begin.starts_with(kNpy)) return;
  const char* found = begin.empty()                  ? "an empty file"
                      : begin.starts_with("GIF8")    ? "a GIF"
                      : begin.starts_with("BM")      ? "a BMP"
                      : begin.substr(0, 4) == "RIFF" ? "a WebP or RIFF file"
                      : begin.substr(0, 2) == "PK"   ? "a zip file"
                      : begin.substr(1, 3) == "ELF"  ? "a compiled file"
                                                    : "no picture and no array";
  throw Failure("'" + file + "' is " + found + ", expected JPEG, PNG or .npy");
}

void FillWithArray(const mxc_tensor& tensor, std::span<std::byte> memory,
                   const std::string& file, const PictureOptions& pictures) {
  RequireArray(file);
  const runtime::Array array = Take(ReadInputArray(file));
  if (Core(array.shape) != Core(api::Shape(tensor))) {
    throw Failure("input '" + std::string(tensor.name) + "' is " +
                  Describe(tensor) + ", but " + file + " holds " +
                  DescribeShape(array.shape));
  }
  FillWithElements(tensor, memory, pictures, array.type, array.bytes());
  if (!HoldsPixels(array.type, tensor, pictures)) {
    NoteConversion(file, array.type, tensor, pictures);
  }
}

// "infer" of "infer:8", the entry for sequences of that length.
std::string WithoutLength(const std::string& entry) {
  return entry.substr(0, entry.find(':'));
}

std::string Listed(std::span<const NetworkInput> inputs) {
  std::string text;
  for (const NetworkInput& input : inputs) {
    text += (text.empty() ? "'" : ", '") + std::string(input.name) + "' " +
            Describe(input) + (input.read ? "" : ", not used");
  }
  return text.empty() ? "none" : text;
}

// The input of that name. A file without one is for the only input, or for the
// only one that is read; inputs.size() if there is no such.
size_t Find(std::span<const NetworkInput> inputs, const std::string& name) {
  if (name.empty() && inputs.size() == 1) return 0;
  size_t found = inputs.size();
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (name.empty() ? !inputs[k].read : name != inputs[k].name) continue;
    if (found < inputs.size()) return inputs.size();
    found = k;
  }
  return found;
}

// The files for each input, in the order of the inputs.
std::vector<std::vector<std::string>> Assign(
    std::span<const NetworkInput> inputs, const Feed& feed) {
  std::vector<std::vector<std::string>> assigned(inputs.size());
  std::vector<std::string> problems;
  for (const auto& [name, file] : feed.files) {
    const bool first = feed.partial && name.empty() && !inputs.empty();
    const size_t k = first ? 0 : Find(inputs, name);
    if (k == inputs.size()) {
      problems.push_back(name.empty()
                             ? "--input " + file +
                                   ": which input? (NAME=FILE); "
                                   "the inputs are " +
                                   Listed(inputs)
                             : "no input '" + name + "'; the inputs are " +
                                   Listed(inputs));
    } else {
      assigned[k].push_back(file);
    }
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    const bool wanted = inputs[k].read && !feed.partial;
    if (assigned[k].empty() && wanted && problems.empty()) {
      problems.push_back("input '" + std::string(inputs[k].name) + "' " +
                         Describe(inputs[k]) + " has no --input");
    }
  }
  if (!problems.empty()) throw Failure(problems);
  return assigned;
}

bool IsPictureFile(const std::string& path) {
  const auto file = runtime::MappedFile::Open(path);
  return file.ok() && IsPicture(file->bytes());
}

bool HoldsPicture(const std::string& folder) {
  std::error_code error;
  return std::ranges::any_of(
      std::filesystem::directory_iterator(folder, error),
      [](const auto& entry) { return IsPictureFile(entry.path().string()); });
}

// The extents of an array along the input's open axes, with 1 for leading axes that
// it lacks; nothing where it has other extents along the others.
std::optional<std::vector<int64_t>> ExtentsOf(
    const NetworkInput& input, const std::vector<int64_t>& shape) {
  const auto own = api::Shape(input);
  const auto missing = std::ssize(own) - std::ssize(shape);
  if (missing < 0) return std::nullopt;
  std::vector<int64_t> extents(own.begin(), own.end());
  for (size_t axis = 0; axis < own.size(); ++axis) {
    if (input.lengths[axis] < 0) continue;
    const auto at = static_cast<std::ptrdiff_t>(axis) - missing;
    if (at < 0) return std::nullopt;
    extents[axis] = shape[static_cast<size_t>(at)];
    if (extents[axis] < 1 || extents[axis] > own[axis]) return std::nullopt;
  }
  if (Core(extents) != Core(shape)) return std::nullopt;
  return extents;
}

// "axis 1", "axes 1 and 2"
std::string OpenAxesText(const NetworkInput& input) {
  std::vector<std::string> axes;
  for (int axis = 0; axis < input.rank; ++axis) {
    if (input.lengths[static_cast<size_t>(axis)] < 0) continue;
    axes.push_back(std::to_string(axis));
  }
  std::string text = axes.size() == 1 ? "axis " : "axes ";
  for (size_t k = 0; k < axes.size(); ++k) {
    text += (k == 0 ? "" : k + 1 == axes.size() ? " and " : ", ") + axes[k];
  }
  return text;
}

// How long the sequences are that the files hold: of each of the entry's lengths,
// which are `open`; its bound where no input says it.
std::vector<int64_t> LengthsOf(
    const std::vector<mxc_length>& open, std::span<const NetworkInput> inputs,
    const std::vector<std::vector<std::string>>& files) {
  std::vector<int64_t> lengths(open.size());
  std::vector<std::string> told(open.size());  // by whom
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].open() || files[k].empty()) continue;
    RequireArray(files[k].front());
    const runtime::Array array = Take(ReadInputArray(files[k].front()));
    const auto extents = ExtentsOf(inputs[k], array.shape);
    if (!extents) {
      throw Failure("input '" + std::string(inputs[k].name) + "' is " +
                    Describe(inputs[k]) + " or shorter along " +
                    OpenAxesText(inputs[k]) + ", but " + files[k].front() +
                    " holds " + DescribeShape(array.shape));
    }
    for (size_t axis = 0; axis < extents->size(); ++axis) {
      if (inputs[k].lengths[axis] < 0) continue;
      const auto n = static_cast<size_t>(inputs[k].lengths[axis]);
      // An axis may hold several sequences; these are of the batch.
      const int64_t length =
          (*extents)[axis] * open[n].most / inputs[k].dims[axis];
      if (told[n].empty()) {
        lengths[n] = length;
        told[n] = inputs[k].name;
      } else if (lengths[n] != length) {
        const std::string name = open[n].name;
        throw Failure("'" + told[n] + "' is " + std::to_string(lengths[n]) +
                      " long" + (name.empty() ? "" : " in '" + name + "'") +
                      ", but '" + inputs[k].name + "' is " +
                      std::to_string(length));
      }
    }
  }
  for (size_t n = 0; n < open.size(); ++n) {
    if (told[n].empty()) lengths[n] = open[n].most;
  }
  return lengths;
}

// Returns whether the files are as many pictures, or hold an array of the
// shape, that the input wants.
bool Fits(const NetworkInput& tensor, const std::vector<std::string>& files) {
  const auto first = Take(OpenInput(files.front()));
  if (IsPicture(first.bytes())) {
    return tensor.rank != 4 ||
           tensor.dims[0] == static_cast<int64_t>(files.size());
  }
  RequireArray(files.front());
  const runtime::Array array = Take(ReadInputArray(files.front()));
  if (tensor.open()) return ExtentsOf(tensor, array.shape).has_value();
  return Core(array.shape) == Core(api::Shape(tensor));
}

}  // namespace

void NoteConversion(const std::string& file, runtime::ElementType type,
                    const mxc_tensor& input, const PictureOptions& pictures) {
  if (type == TypeOf(input)) return;
  const bool unscaled =
      !IsFloat(type) && HoldsPixels(runtime::ElementType::kU8, input, pictures);
  PrintErr("note: %s holds %s, input '%s' takes %s: converted%s\n",
           runtime::Visible(file).c_str(), runtime::ElementName(type).data(),
           runtime::Visible(input.name).c_str(),
           runtime::ElementName(TypeOf(input)).data(),
           unscaled ? ", and no more: uint8 would be pixels, to be treated as "
                      "those of pictures"
                    : "");
}

InputFile ParseInput(const std::string& text) {
  const size_t equals = text.find('=');
  std::error_code error;
  const bool named =
      equals != std::string::npos && !std::filesystem::exists(text, error);
  if (!named && !text.empty()) return {"", text};
  InputFile input;
  if (named) input = {text.substr(0, equals), text.substr(equals + 1)};
  if (input.name.empty() || input.file.empty()) {
    throw Failure("'" + text + "' is neither NAME=FILE nor a file");
  }
  return input;
}

std::vector<InputFile> FilesOf(const InputFile& input) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(input.file, error)) {
    // Before anything else can take the place of a stream that is closed.
    if (IsPipe(input.file)) (void)Take(OpenInput(input.file));
    return {input};
  }
  std::vector<InputFile> files;
  std::string subfolder;
  for (fs::directory_iterator at(input.file, error), end; !error && at != end;
       at.increment(error)) {
    const std::string path = at->path().string();
    std::error_code unknown;
    if (at->is_directory(unknown)) {
      const bool before = subfolder.empty() || path < subfolder;
      if (before && HoldsPicture(path)) subfolder = path;
    } else if (IsPictureFile(path)) {
      files.push_back({input.name, path});
    }
  }
  if (error) {
    throw Failure("cannot list '" + input.file + "': " + error.message());
  }
  if (files.empty()) {
    throw Failure("the folder '" + input.file + "' holds no JPEG and no PNG" +
                  (subfolder.empty() ? ""
                                     : "; a folder within it may be named, as "
                                       "in --input " +
                                           subfolder));
  }
  std::ranges::sort(files, {}, &InputFile::file);
  return files;
}

void FillInput(const mxc_tensor& tensor, std::span<std::byte> memory,
               const std::vector<std::string>& files,
               const PictureOptions& pictures) {
  const auto first = Take(OpenInput(files.front()));
  if (IsPicture(first.bytes())) {
    FillWithPictures(tensor, memory, files, pictures);
  } else if (files.size() > 1) {
    throw Failure("input '" + std::string(tensor.name) +
                  "' is given more than once");
  } else {
    FillWithArray(tensor, memory, files.front(), pictures);
  }
}

void FillWithElements(const mxc_tensor& tensor, std::span<std::byte> memory,
                      const PictureOptions& pictures, runtime::ElementType type,
                      std::span<const std::byte> elements) {
  if (HoldsPixels(type, tensor, pictures)) {
    FillWithPixels(tensor, pictures, elements, memory);
  } else {
    runtime::ConvertElements(type, elements, TypeOf(tensor), memory);
  }
}

PictureKinds KindsOf(std::span<const NetworkInput> inputs, const Feed& feed) {
  PictureKinds kinds;
  const auto assigned = Assign(inputs, feed);
  for (size_t k = 0; k < inputs.size(); ++k) {
    for (const std::string& file : assigned[k]) {
      const auto mapped = Take(OpenInput(file));
      if (IsPicture(mapped.bytes())) {
        kinds.files = true;
        continue;
      }
      const auto array = runtime::ViewNpy(mapped.bytes());
      if (array.ok() && HoldsPixels(array->type, inputs[k], feed.pictures)) {
        kinds.arrays = true;
      }
    }
  }
  return kinds;
}

std::string DoubtsOf(PictureKinds kinds, const PictureOptions& pictures) {
  const auto& trained = pictures.trained;
  if (kinds.files && GivenOption(pictures).empty() &&
      DescribeTrained(pictures).empty()) {
    return "pictures: values 0 to 255, stretched to the input; nothing says "
           "how the network was trained: --mean, --std, --scale, --resize, "
           "here or of 'mxc compile', which keeps them";
  }
  const bool plain = !kinds.files && !kinds.arrays;
  if (!plain || !trained || !trained->order.empty() || trained->scale == 1) {
    return "";
  }
  return runtime::Format(
      "arrays are taken as they are; those of training were multiplied by %.6g",
      trained->scale);
}

size_t ChooseEntry(const Session& session, const Feed& feed) {
  const api::Model& model = session.model;
  const std::string name = model.entry(session.entry).name;
  const auto is_meant = [&](const std::string& other) {
    return other == name ||
           (!session.named && WithoutLength(other) == WithoutLength(name));
  };
  const auto fits = [&](size_t e) {
    const auto inputs = InputsOf(model, e);
    const auto assigned = Assign(inputs, feed);
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (!assigned[k].empty() && !Fits(inputs[k], assigned[k])) return false;
    }
    return true;
  };
  // By batch, of entries for any lengths.
  std::map<int64_t, size_t> longest;
  const auto size = [&](size_t e) {
    double all = 1;
    for (const mxc_length& length : model.Lengths(e)) {
      all *= static_cast<double>(length.most);
    }
    return all;
  };
  for (size_t e = 0; e < model.entry_count(); ++e) {
    const mxc_entry_summary entry = model.entry(e);
    if (!is_meant(entry.name)) continue;
    if (!model.Lengths(e).empty()) {
      size_t& most = longest.emplace(entry.batch, e).first->second;
      if (size(e) > size(most)) most = e;
    } else if (fits(e)) {
      return e;
    }
  }
  for (const auto& [batch, e] : longest) {
    if (!fits(e)) continue;
    const auto inputs = InputsOf(model, e);
    const auto lengths =
        LengthsOf(model.Lengths(e), inputs, Assign(inputs, feed));
    if (session.named) return e;
    return model.FindLengths(WithoutLength(name).c_str(), batch, lengths);
  }
  return session.entry;
}

std::vector<bool> FillInputs(api::Executor& executor,
                             const std::vector<mxc_length>& open,
                             std::span<const NetworkInput> inputs,
                             const Feed& feed) {
  std::vector<bool> given(inputs.size(), false);
  const auto assigned = Assign(inputs, feed);
  const auto lengths = LengthsOf(open, inputs, assigned);
  if (!lengths.empty()) executor.SetLengths(lengths);
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (assigned[k].empty()) continue;
    given[k] = true;
    if (inputs[k].open()) {
      const mxc_tensor tensor = executor.Input(inputs[k].index);
      std::vector<std::byte> values(tensor.bytes);
      FillInput(tensor, values, assigned[k], feed.pictures);
      executor.SetInput(tensor.name, std::span<const std::byte>(values));
      continue;
    }
    FillInput(inputs[k], executor.MapInput(inputs[k].name).span(), assigned[k],
              feed.pictures);
  }
  return given;
}

}  // namespace mxc::run
