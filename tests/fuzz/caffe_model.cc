// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "frontend/caffe/weights.h"
#include "frontend/protobuf/write.h"
#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunCaffeModel(Bytes input) {
  const auto arrays = caffe::ReadWeights(input, "net.caffemodel");
  if (arrays.ok()) {
    for (const runtime::NamedArray& named : *arrays) {
      Touch(named.array.bytes());
    }
  } else {
    (void)Render(arrays.errors());
  }
  auto model = LoadText(SourceOf(input), {});
  if (!model.ok()) {
    (void)Render(model.errors());
    return;
  }
  (void)LoadParameters(*model, {});
  (void)Infers(model->graph);
}

std::string FieldOf(int number, const std::string& bytes) {
  protobuf::WireWriter writer;
  writer.Bytes(number, bytes);
  return writer.bytes();
}

std::string BlobOf(const std::string& dims, const std::vector<float>& values) {
  const std::string data(reinterpret_cast<const char*>(values.data()),
                         values.size() * sizeof(float));
  return FieldOf(7, FieldOf(1, dims)) + FieldOf(5, data);
}

std::vector<std::string> CaffeModels() {
  const std::string input =
      FieldOf(1, "n") + FieldOf(3, "x") + FieldOf(8, FieldOf(1, "\1\2"));
  const std::string ends = FieldOf(3, "x") + FieldOf(4, "y");
  const std::string weight = BlobOf("\1\2", {1, 2}), one = BlobOf("\1", {3});
  const std::string product = FieldOf(1, "ip") + FieldOf(2, "InnerProduct") +
                              ends + FieldOf(117, "\x08\x01") +
                              FieldOf(7, weight) + FieldOf(7, one);
  const std::string norm = FieldOf(1, "bn") + FieldOf(2, "BatchNorm") + ends +
                           FieldOf(7, BlobOf("\2", {1, 2})) +
                           FieldOf(7, BlobOf("\2", {3, 4})) + FieldOf(7, one);
  // The older generations: `layers`, and a blob of four extents.
  const std::string old = FieldOf(4, "ip") + "\x28\x0e" + FieldOf(2, "x") +
                          FieldOf(3, "y") + FieldOf(17, "\x08\x01") +
                          FieldOf(6, "\x08\x01\x10\x01\x18\x01\x20\x02" +
                                         FieldOf(5, std::string(8, '\1')));
  const std::string oldest =
      FieldOf(1,
              FieldOf(1, "ip") + FieldOf(2, "innerproduct") + "\x18\x01" +
                  FieldOf(50, "\x20\x02" + FieldOf(5, std::string(8, '\1')))) +
      FieldOf(2, "x") + FieldOf(3, "y");
  return {input + FieldOf(100, product), input + FieldOf(100, norm),
          input + FieldOf(2, old), input + FieldOf(2, oldest)};
}

}  // namespace

extern const Target caffe_model;
const Target caffe_model = {.run = RunCaffeModel,
                            .seeds = CaffeModels,
                            .most_bytes = 512,
                            .words = {"\xa2\x06", "InnerProduct", "BatchNorm",
                                      "Convolution", "LSTM", "Scale"}};

}  // namespace mxc::fuzz
