// SPDX-License-Identifier: Apache-2.0
// Where blobs come from, and where they end. Layers of data become inputs of the
// network. Source: *_data_layer.cpp, input_layer.cpp, parameter_layer.cpp of
// BVLC/caffe; CoSDataLayer of CaffeOnSpark.
#include <algorithm>

#include "frontend/caffe/layers.h"
#include "ir/ops/tensor/create/full.h"
#include "ir/ops/tensor/random/sampling.h"

namespace mxc::caffe {
namespace {

constexpr std::string_view kSources[] = {"AnnotatedData", "CoSData",   "Data",
                                         "HDF5Data",      "ImageData", "Input",
                                         "MemoryData",    "WindowData"};

// Where a file says 0 or nothing it is open.
int64_t OrOpen(int64_t extent) {
  return extent == 0 ? Shape::kUnknownDim : extent;
}

int64_t CropOf(const LayerParameter& layer) {
  return OrDefault(layer.transform_param).crop_size;
}

// A picture's, after it is cropped.
Shape Pictures(const LayerParameter& layer, int64_t batch, int64_t channels,
               int64_t height, int64_t width) {
  const int64_t crop = CropOf(layer);
  return {OrOpen(batch), OrOpen(channels), OrOpen(crop > 0 ? crop : height),
          OrOpen(crop > 0 ? crop : width)};
}

Shape ShapeOfBlob(const BlobShape& shape) {
  Extents dims = shape.dim;
  for (int64_t& dim : dims) dim = dim <= 0 ? Shape::kUnknownDim : dim;
  if (dims.empty()) dims.push_back(1);
  return dims;
}

Shape ShapeOfTop(const InputParameter& p, size_t top) {
  if (p.shape.empty()) return Shape::Unknown();
  return ShapeOfBlob(p.shape[p.shape.size() == 1 ? 0 : top]);
}

Shape ShapeOfTop(const CosDataParameter& p, size_t top) {
  if (top >= p.top.size()) return Shape::Unknown();
  const CosDataTop& t = p.top[top];
  const int64_t batch = OrOpen(p.batch_size);
  if (t.sample_num_axes == 0) return {batch};
  if (t.sample_num_axes == 1) {
    const int64_t extent = OrOpen(t.channels);
    return t.transpose ? Shape{extent, batch} : Shape{batch, extent};
  }
  if (t.type == CosDataType::kINT || t.type == CosDataType::kFLOAT) {
    return {batch};
  }
  const int64_t crop = OrDefault(t.transform_param).crop_size;
  const auto or_out = [](int64_t out, int64_t in) { return out ? out : in; };
  const int64_t height = or_out(t.out_height, t.height);
  const int64_t width = or_out(t.out_width, t.width);
  return {batch, OrOpen(or_out(t.out_channels, t.channels)),
          OrOpen(crop > 0 ? crop : height), OrOpen(crop > 0 ? crop : width)};
}

// Of the first top; the others are numbers of each sample.
Shape ShapeOfData(const LayerParameter& layer) {
  if (layer.memory_data_param != nullptr) {
    const MemoryDataParameter& p = *layer.memory_data_param;
    return Pictures(layer, p.batch_size, p.channels, p.height, p.width);
  }
  if (layer.image_data_param != nullptr) {
    const ImageDataParameter& p = *layer.image_data_param;
    return Pictures(layer, p.batch_size, p.is_color ? 3 : 1, p.new_height,
                    p.new_width);
  }
  if (layer.window_data_param != nullptr) {
    return Pictures(layer, layer.window_data_param->batch_size, 3, 0, 0);
  }
  if (layer.hdf5_data_param != nullptr) return Shape::Unknown();
  return Pictures(layer, OrDefault(layer.data_param).batch_size, 0, 0, 0);
}

template <class Id>
Value Drawn(Layer& layer, float first, float second, const Shape& shape) {
  typename AttrsOf<Id>::type attrs;
  attrs.parameters = {AsWritten(first), AsWritten(second)};
  attrs.shape = shape.dims();
  return layer.Op<Id>({}, attrs);
}

Value Filled(Layer& layer, const FillerParameter& filler, const Shape& shape) {
  if (filler.type == "constant") {
    FullAttrs attrs;
    attrs.shape = shape.dims();
    attrs.value = AsWritten(filler.value);
    return layer.Op<op::Full>({}, attrs);
  }
  if (filler.type == "uniform") {
    return Drawn<op::RandomUniform>(layer, filler.min, filler.max, shape);
  }
  if (filler.type == "gaussian") {
    return Drawn<op::RandomNormal>(layer, filler.mean, filler.std, shape);
  }
  layer.Fail("data of the filler '{}', expected constant, uniform or gaussian",
             filler.type);
}

Shape DummyShape(Layer& layer, const DummyDataParameter& p, size_t top) {
  const auto at = [&](const auto& list) {
    return list[list.size() == 1 ? 0 : top];
  };
  const auto fits = [&](const auto& list) {
    return list.size() == 1 || list.size() == layer.param().top.size();
  };
  if (!p.shape.empty()) {
    if (!fits(p.shape))
      layer.Fail("{} shapes, expected one for each top", p.shape.size());
    return ShapeOfBlob(at(p.shape));
  }
  if (!fits(p.num) || !fits(p.channels) || !fits(p.height) || !fits(p.width)) {
    layer.Fail("no shape for each top");
  }
  return {at(p.num), at(p.channels), at(p.height), at(p.width)};
}

}  // namespace

bool IsSource(const LayerParameter& layer) {
  return std::ranges::find(kSources, layer.type) != std::end(kSources);
}

std::vector<Shape> ShapesOfSource(const LayerParameter& layer) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < layer.top.size(); ++i) {
    if (layer.type == "Input") {
      const InputParameter& p = OrDefault(layer.input_param);
      const bool fits = p.shape.size() <= 1 || i < p.shape.size();
      shapes.push_back(fits ? ShapeOfTop(p, i) : Shape::Unknown());
    } else if (layer.type == "CoSData") {
      shapes.push_back(ShapeOfTop(OrDefault(layer.cos_data_param), i));
    } else if (i == 0) {
      shapes.push_back(ShapeOfData(layer));
    } else if (!shapes[0].known_rank()) {
      shapes.push_back(Shape::Unknown());
    } else {
      shapes.push_back({shapes[0][0]});
    }
  }
  return shapes;
}

void ImportDummyData(Layer& layer) {
  layer.Expect(0, 0, -1);
  const DummyDataParameter& p = OrDefault(layer.param().dummy_data_param);
  const FillerParameter zero;
  if (p.data_filler.size() > 1 &&
      p.data_filler.size() != layer.param().top.size()) {
    layer.Fail("{} data_filler for {} tops", p.data_filler.size(),
               layer.tops());
  }
  for (int i = 0; i < layer.tops(); ++i) {
    const auto top = static_cast<size_t>(i);
    const FillerParameter& filler =
        p.data_filler.empty()
            ? zero
            : p.data_filler[p.data_filler.size() == 1 ? 0 : top];
    const Shape shape = DummyShape(layer, p, top);
    if (const auto unfit = Unfit({DType::kF32, shape})) {
      layer.Fail("top '{}' has {}", layer.param().top[top], *unfit);
    }
    layer.SetTop(i, Filled(layer, filler, shape));
  }
}

void ImportParameter(Layer& layer) {
  layer.Expect(0, 0);
  const BlobShape& shape =
      OrDefault(OrDefault(layer.param().parameter_param).shape);
  layer.SetTop(0, layer.Parameter(0, "weight", ShapeOfBlob(shape), {}));
}

// Silence reads blobs for nothing, HDF5Output writes a file.
void ImportNothing(Layer& layer) { layer.Expect(1, -1, 0); }

void ImportFilter(Layer& layer) {
  layer.Fail(
      "it keeps as many samples as data say, which is not supported: "
      "every shape here is known before a run");
}

void ImportPython(Layer& layer) {
  const PythonParameter& p = OrDefault(layer.param().python_param);
  layer.Fail("code in Python ({}.{}), which no definition holds", p.module,
             p.layer);
}

}  // namespace mxc::caffe
