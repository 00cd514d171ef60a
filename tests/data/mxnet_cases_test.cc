// SPDX-License-Identifier: Apache-2.0
// What MXNet 1.9.1's iterators give for the same files
// (../shared/cases/mxnet-training: iterators.jsonl, iterators.tar.gz).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/formats/ndarray_list.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/npz.h"
#include "tests/data/batches.h"
#include "tests/support/archive.h"
#include "tests/support/shared.h"

namespace mxc::data {
namespace {

using nlohmann::json;
using Expected = std::map<std::string, Array>;

// Where we mean to differ: only the rows before the padding are compared, or
// something less.
const std::map<std::string, std::string> kDifferences = {
    {"csv-round-False", "MXNet fills up with what the buffer held before"},
    {"csv-nolabel", "MXNet makes labels of 0 where there are none"},
    {"ndarray-roll_over",
     "MXNet calls samples padding that it gives for the first time"},
    {"mnist-*", "MXNet leaves out what does not fill a batch; an option here"},
};

// The arrays that make_training.py gave to NDArrayIter.
void WriteRamps(const TestFolder& folder) {
  std::vector<float> ramp(20), twice(20), labels(10);
  for (size_t i = 0; i < 20; ++i) ramp[i] = static_cast<float>(i);
  for (size_t i = 0; i < 20; ++i) twice[i] = 2 * ramp[i];
  for (size_t i = 0; i < 10; ++i) labels[i] = ramp[i];
  const Array d = ArrayOf({10, 2}, ramp), l = ArrayOf({10}, labels);
  REQUIRE(runtime::WriteNpy(folder.path("d.npy"), d).ok());
  REQUIRE(runtime::WriteNpy(folder.path("l.npy"), l).ok());
  const NamedArray both[] = {
      {"a", ArrayOf({10, 2}, twice)}, {"b", d}, {"lab", l}};
  REQUIRE(runtime::WriteNpz(folder.path("dict.npz"), both).ok());
}

std::string SettingOf(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  std::string text = value.dump();
  if (value.is_array()) text = text.substr(1, text.size() - 2);
  return text;
}

struct Opening {
  std::string spec;
  IteratorOptions options;
};

// The same iterator in our words.
Opening OpeningOf(const json& what, const TestFolder& folder) {
  Opening opening;
  IteratorOptions& options = opening.options;
  const std::string kind = what["iterator"];
  options.last_batch =
      kind == "MNISTIter" ? LastBatch::kDiscard : LastBatch::kRound;
  for (const auto& [key, value] : what.items()) {
    const std::string text = SettingOf(value);
    if (key == "iterator" || key == "silent" || key == "data" ||
        (key == "label" && kind == "NDArrayIter")) {
      continue;
    }
    if (key == "batch_size") {
      options.batch_size = value;
    } else if (key == "path_imgrec") {
      opening.spec = "rec:" + folder.path(text);
    } else if (key == "data_csv") {
      opening.spec = "csv:" + folder.path(text);
    } else if (key == "data_libsvm") {
      opening.spec = "libsvm:" + folder.path(text);
    } else if (key == "label_csv") {
      options.settings.emplace_back(key, folder.path(text));
    } else if (key == "last_batch_handle") {
      options.settings.emplace_back("last_batch", text);
    } else if (key == "size") {
      options.settings.emplace_back("epoch_batches", text);
    } else {
      options.settings.emplace_back(key, text);
    }
  }
  if (kind == "ImageRecordUInt8Iter") {
    options.settings.emplace_back("dtype", "uint8");
  } else if (kind == "MNISTIter") {
    opening.spec = "mnist:" + folder.path();
    options.settings.emplace_back("image", "m-images-idx3-ubyte");
    options.settings.emplace_back("label", "m-labels-idx1-ubyte");
  } else if (kind == "NDArrayIter" || kind == "ResizeIter") {
    opening.spec = "npy:" + folder.path("d.npy") + "," + folder.path("l.npy");
    if (kind == "ResizeIter") options.batch_size = 4;
    if (!what.contains("last_batch_handle")) {
      options.last_batch = LastBatch::kPad;
    }
    if (what.contains("data") && what["data"].dump().starts_with("\"dict")) {
      opening.spec = "npy:" + folder.path("dict.npz");
      options.settings.emplace_back("labels", "lab");
    }
  }
  return opening;
}

float At(const Array& array, size_t i) {
  if (array.type == ElementType::kU8) {
    return static_cast<float>(array.bytes()[i]);
  }
  float value;
  std::memcpy(&value, array.bytes().data() + 4 * i, 4);
  return value;
}

// Every n-th row and column of the pictures, and only the first `rows`.
void Compare(const Array& got, const Array& want, int64_t every, int64_t rows,
             float tolerance) {
  REQUIRE(got.type == want.type);
  REQUIRE(got.shape.size() == want.shape.size());
  const size_t rank = got.shape.size();
  REQUIRE(got.shape[0] == want.shape[0]);
  const bool picture = rank == 4 && every > 1;
  const size_t wide = picture ? static_cast<size_t>(got.shape[3]) : 1;
  const size_t high = picture ? static_cast<size_t>(got.shape[2]) : 1;
  const auto step = static_cast<size_t>(picture ? every : 1);
  size_t planes = 1, at = 0;
  for (size_t i = 1; i < (picture ? 2 : rank); ++i) {
    planes *= static_cast<size_t>(got.shape[i]);
  }
  float worst = 0;
  for (size_t p = 0; p < planes * static_cast<size_t>(rows); ++p) {
    for (size_t y = 0; y < high; y += step) {
      for (size_t x = 0; x < wide; x += step) {
        const float a = At(got, (p * high + y) * wide + x);
        worst = std::max(worst, std::abs(a - At(want, at++)));
      }
    }
  }
  CHECK(worst <= tolerance);
}

float ToleranceOf(const std::string& name) {
  if (name == "photo-resize" || name == "png-resize" || name == "png-enlarge" ||
      name == "photo-crop" || name == "png-gray") {
    return 1;
  }
  return name == "png-meanstd" || name == "png-scale" ? 1e-5f : 0;
}

void CheckBatch(const std::string& key, const json& row, const Batch& batch,
                const Expected& expected) {
  const std::string name = row["case"];
  CAPTURE(key);
  const auto batch_size = static_cast<int64_t>(batch.index.size());
  int64_t rows = batch_size;
  if (name == "csv-round-False") rows -= batch.pad;
  CHECK(batch.pad == (name == "ndarray-roll_over" ? 0 : row["pad"].get<int>()));
  const int64_t every =
      row["every_nth_pixel"].is_null() ? 1 : row["every_nth_pixel"].get<int>();
  for (size_t k = 0; k < batch.data.size(); ++k) {
    const auto want = expected.find(key + ":data" + std::to_string(k));
    REQUIRE(want != expected.end());
    Compare(batch.data[k].array, want->second, every, rows, ToleranceOf(name));
  }
  if (name == "csv-nolabel") return;
  REQUIRE(batch.labels.size() == 1);
  Compare(batch.labels[0].array, expected.at(key + ":label0"), 1, rows, 0);
  // MXNet's pictures have no index.
  if (row["index"].is_null() || !name.starts_with("csv")) return;
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
    CHECK(batch.index[i] == row["index"][i].get<int64_t>());
  }
}

// All rows of one case, in the order in which MXNet gave them.
void CheckCase(const std::vector<json>& rows, const TestFolder& folder,
               const Expected& expected) {
  const auto [spec, options] = OpeningOf(rows[0]["what"], folder);
  CAPTURE(spec);
  const auto iterator = MustOpen(spec, options);
  Batch batch;
  int64_t epoch = 0;
  for (const json& row : rows) {
    if (row["epoch"].get<int64_t>() != epoch) {
      CHECK_FALSE(*iterator->Next(batch));
      ++epoch;
    }
    const auto more = iterator->Next(batch);
    REQUIRE_MESSAGE(more.ok(), more.status().message());
    REQUIRE(*more);
    CheckBatch(row["case"].get<std::string>() + ":e" + std::to_string(epoch) +
                   ":b" + std::to_string(row["batch"].get<int>()),
               row, batch, expected);
  }
}

TEST_CASE("iterators give what MXNet's give" * doctest::test_suite("shared")) {
  const std::string shared = SharedFolder();
  if (shared.empty()) {
    MESSAGE("skipped: no shared cases");
    return;
  }
  const std::string cases = shared + "/cases/mxnet-training/";
  const auto archive = ReadArchive(cases + "iterators.tar.gz");
  REQUIRE(archive);
  const TestFolder folder;
  for (const auto& [path, content] : *archive) {
    folder.Write(std::filesystem::path(path).filename().string(), content);
  }
  WriteRamps(folder);
  auto arrays = runtime::ReadNdarrayList(folder.path("expected.params"));
  REQUIRE(arrays.ok());
  Expected expected;
  for (const NamedArray& array : *arrays) expected[array.name] = array.array;
  std::vector<std::string> names;
  std::map<std::string, std::vector<json>> rows;
  std::istringstream lines(ReadText(cases + "iterators.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    const std::string name = row["case"];
    if (!rows.contains(name)) names.push_back(name);
    rows[name].push_back(row);
  }
  REQUIRE(names.size() == 27);
  for (const std::string& name : names) {
    CAPTURE(name);
    CheckCase(rows[name], folder, expected);
  }
  for (const auto& [name, why] : kDifferences) MESSAGE(name, ": ", why);
}

}  // namespace
}  // namespace mxc::data
