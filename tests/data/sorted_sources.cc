// SPDX-License-Identifier: Apache-2.0
#include "tests/data/sorted_sources.h"

#include "runtime/formats/npy.h"
#include "runtime/formats/recordio.h"

namespace mxc::data {

std::vector<SortedSource> WriteSources(const TestFolder& folder) {
  std::string csv, svm, cifar, labels, pixels, lines;
  std::vector<float> x, y;
  runtime::RecordWriter writer(folder.path("a.rec"));
  for (int i = 0; i < kClasses * kOfClass; ++i) {
    const int label = i / kOfClass;
    const std::string name = std::to_string(label);
    csv += std::to_string(i) + "," + name + "\n";
    svm += name + " 0:" + std::to_string(i) + "\n";
    cifar += static_cast<char>(label) + std::string(3072, '\x07');
    labels += static_cast<char>(label);
    pixels += std::string(784, '\x01');
    lines += std::string(static_cast<size_t>(label) + 2, 'a') + "\n";
    x.push_back(static_cast<float>(i));
    y.push_back(static_cast<float>(label));
    const std::string png = PngOf(4, 4, 3, i);
    folder.Write("folder/" + name + "/" + std::to_string(100 + i) + ".png",
                 png);
    const auto payload =
        runtime::PackImageRecord({{static_cast<float>(label)},
                                  static_cast<uint64_t>(i),
                                  0,
                                  std::as_bytes(std::span(png))});
    REQUIRE(writer.Append(payload).ok());
  }
  REQUIRE(writer.Commit().ok());
  const int64_t count = std::ssize(x);
  const auto size = static_cast<uint32_t>(count);
  REQUIRE(runtime::WriteNpy(folder.path("x.npy"), ArrayOf({count, 1}, x)).ok());
  REQUIRE(runtime::WriteNpy(folder.path("y.npy"), ArrayOf({count}, y)).ok());
  folder.Write("cifar/data_batch_1.bin", cifar);
  folder.Write("mnist/train-labels-idx1-ubyte",
               BigEndian({0x801, size}) + labels);
  folder.Write("mnist/train-images-idx3-ubyte",
               BigEndian({0x803, size, 28, 28}) + pixels);
  const Settings shape = {{"data_shape", "3,4,4"}};
  const auto at = [&](const char* name) { return folder.path(name); };
  folder.Write("a.csv", csv);
  folder.Write("a.svm", svm);
  folder.Write("a.txt", lines);
  return {{"csv:" + at("a.csv"), {{"label_column", "1"}}, at("a.csv")},
          {"libsvm:" + at("a.svm"), {}, at("a.svm")},
          {"npy:" + at("x.npy") + "," + at("y.npy"), {}, at("x.npy")},
          {"rec:" + at("a.rec"), shape, at("a.rec")},
          {"cifar10:" + at("cifar"), {}, at("cifar/data_batch_1.bin")},
          {"mnist:" + at("mnist"), {}, at("mnist/train-images-idx3-ubyte")},
          {"folder:" + at("folder"), shape, ""},
          {"digits", {{"size", std::to_string(count)}}, ""},
          {"text:" + at("a.txt"), {{"buckets", "3,4,5"}}, ""}};
}

}  // namespace mxc::data
