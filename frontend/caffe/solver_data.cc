// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/solver_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/attributes.h"
#include "frontend/caffe/layers.h"

namespace mxc::caffe {
namespace {

// What the layer's own fields and transform_param say, whichever has them.
class SourceLayer {
 public:
  SourceLayer(const LayerParameter& layer,
              const std::function<std::string(Text)>& find)
      : layer_(layer), find_(find) {}

  NetData Read() {
    data_.layer = std::string(layer_.name);
    const std::vector<Shape> shapes = ShapesOfSource(layer_);
    if (!shapes.empty() && shapes[0].known_rank() && shapes[0].rank() > 0 &&
        shapes[0].known(0)) {
      data_.batch = shapes[0][0];
    }
    FindSource();
    if (data_.source.empty()) return std::move(data_);
    if (layer_.transform_param != nullptr) Transform(*layer_.transform_param);
    return std::move(data_);
  }

 private:
  template <class... Args>
  void Note(fmt::format_string<Args...> format, Args&&... args) {
    data_.notes.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  void Say(const char* name, const std::string& value) {
    data_.options.emplace_back(name, value);
  }

  void NoteSkip(int64_t samples) {
    if (samples == 0) return;
    Note(
        "rand_skip {} of '{}' is left out: training begins with the first "
        "sample",
        samples, layer_.name);
  }

  void FindSource() {
    if (layer_.type == "Data" && layer_.data_param != nullptr) {
      return OfDatabase(*layer_.data_param);
    }
    if (layer_.type == "ImageData" && layer_.image_data_param != nullptr) {
      return OfList(*layer_.image_data_param);
    }
    Text source = OrDefault(layer_.memory_data_param).source;
    if (source.empty()) source = OrDefault(layer_.cos_data_param).source;
    if (layer_.source_class.ends_with("LMDB") && !source.empty()) {
      return SetDatabase(source);
    }
    Note(
        "the layer '{}' ({}) names no source of samples that is read here: "
        "give --data",
        layer_.name, layer_.type);
  }

  void OfDatabase(const DataParameter& p) {
    NoteSkip(p.rand_skip);
    if (p.backend == DB::kLMDB) return SetDatabase(p.source);
    Note(
        "'{}' reads '{}', a LevelDB, which is not read here: give --data, or "
        "make an LMDB of it",
        layer_.name, p.source);
  }

  // CaffeOnSpark's are addresses.
  void SetDatabase(Text source) {
    for (const Text scheme : {"file://", "file:"}) {
      if (source.starts_with(scheme)) {
        source.remove_prefix(scheme.size());
        break;
      }
    }
    while (source.size() > 1 && source.ends_with('/')) source.remove_suffix(1);
    data_.source = "lmdb:" + find_(source);
  }

  void OfList(const ImageDataParameter& p) {
    data_.source = "list:" + find_(p.source);
    data_.shuffles = p.shuffle;
    if (!p.root_folder.empty()) Say("root", find_(p.root_folder));
    if (!p.is_color) Say("channels", "1");
    if (p.new_height > 0 && p.new_width > 0) {
      Say("stretch", fmt::format("{},{}", p.new_height, p.new_width));
    }
    NoteSkip(p.rand_skip);
  }

  // value = (pixel - mean) · scale, of a part of the picture
  void Transform(const TransformationParameter& t) {
    if (t.scale != 1) Say("scale", NumberText(t.scale));
    if (t.crop_size > 0) {
      Say("crop_size", std::to_string(t.crop_size));
      data_.drawn.emplace_back("rand_crop", "1");
    }
    if (t.mirror) data_.drawn.emplace_back("rand_mirror", "1");
    AddMeans(t);
    if (t.force_color) Say("channels", "3");
    if (t.force_gray) Say("channels", "1");
  }

  // Blue comes first in Caffe; one value is all channels'.
  void AddMeans(const TransformationParameter& t) {
    constexpr const char* kColours[] = {"mean_b", "mean_g", "mean_r"};
    const auto& means = t.mean_value;
    if (!t.mean_file.empty()) Say("mean_img", find_(t.mean_file));
    if (means.empty()) return;
    if (means.size() != 1 && means.size() != std::size(kColours)) {
      Note(
          "{} mean values of '{}' are left out: pictures have one or three "
          "channels here",
          means.size(), layer_.name);
      return;
    }
    for (size_t i = 0; i < std::size(kColours); ++i) {
      Say(kColours[i], NumberText(means[means.size() == 1 ? 0 : i]));
    }
  }

  const LayerParameter& layer_;
  const std::function<std::string(Text)>& find_;
  NetData data_;
};

}  // namespace

Result<std::vector<std::string>> TestedAlone(const Net& net,
                                             const NetworkState& trained,
                                             const NetworkState& tested) {
  MXC_ASSIGN(const auto known, LayersFor(net, trained));
  MXC_ASSIGN(const auto layers, LayersFor(net, tested));
  const std::set<const LayerParameter*> both(known.begin(), known.end());
  std::vector<std::string> names;
  for (const LayerParameter* layer : layers) {
    if (both.contains(layer) || IsSource(*layer) || layer->type == "Accuracy" ||
        layer->type == "Silence") {
      continue;
    }
    names.emplace_back(layer->name);
  }
  return names;
}

Result<std::optional<NetData>> DataOf(
    const Net& net, const NetworkState& state,
    const std::function<std::string(Text)>& find) {
  MXC_ASSIGN(const auto layers, LayersFor(net, state));
  const auto found = std::ranges::find_if(
      layers, [](const LayerParameter* layer) { return IsSource(*layer); });
  std::optional<NetData> data;
  if (found != layers.end()) data = SourceLayer(**found, find).Read();
  return data;
}

}  // namespace mxc::caffe
