// SPDX-License-Identifier: Apache-2.0
#include "tests/data/batches.h"

#include <png.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <numeric>

namespace mxc::data {

namespace fs = std::filesystem;

TestFolder::TestFolder() {
  std::string pattern =
      (fs::temp_directory_path() / "mxc_data_XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TestFolder::Write(const std::string& name,
                              const std::string& content) const {
  const std::string file = path(name);
  fs::create_directories(fs::path(file).parent_path());
  fs::remove(file);  // who has the old one mapped keeps it
  std::ofstream(file, std::ios::binary) << content;
  return file;
}

IteratorOptions Options(int64_t batch_size, Settings settings) {
  IteratorOptions options;
  options.batch_size = batch_size;
  options.settings = std::move(settings);
  return options;
}

std::unique_ptr<Iterator> MustOpen(const std::string& spec,
                                   const IteratorOptions& options) {
  auto opened = Open(spec, options);
  REQUIRE_MESSAGE(opened.ok(), opened.status().message());
  return std::move(*opened);
}

std::string Refusal(const std::string& spec, const IteratorOptions& options) {
  auto opened = Open(spec, options);
  REQUIRE_FALSE(opened.ok());
  return opened.status().message();
}

std::span<const float> Floats(const NamedArray& array) {
  REQUIRE(array.array.type == ElementType::kF32);
  const auto bytes = array.array.bytes();
  return {reinterpret_cast<const float*>(bytes.data()),
          bytes.size() / sizeof(float)};
}

namespace {

std::vector<std::vector<float>> Copies(const std::vector<NamedArray>& arrays) {
  std::vector<std::vector<float>> copies;
  for (const NamedArray& array : arrays) {
    const auto bytes = array.array.bytes();
    if (array.array.type == ElementType::kF32) {
      copies.emplace_back(Floats(array).begin(), Floats(array).end());
      continue;
    }
    copies.emplace_back();
    for (const std::byte b : bytes) {
      copies.back().push_back(array.array.type == ElementType::kI8
                                  ? static_cast<float>(static_cast<int8_t>(b))
                                  : static_cast<float>(b));
    }
  }
  return copies;
}

}  // namespace

std::vector<Seen> Drain(Iterator& iterator) {
  std::vector<Seen> seen;
  Batch batch;
  const int64_t epoch = iterator.cursor().epoch;
  for (;;) {
    const auto more = iterator.Next(batch);
    REQUIRE_MESSAGE(more.ok(), more.status().message());
    if (!*more) return seen;
    seen.push_back({epoch, batch.pad, batch.bucket, batch.index,
                    Copies(batch.data), Copies(batch.labels)});
  }
}

std::vector<int64_t> Samples(const std::vector<Seen>& batches) {
  std::vector<int64_t> samples;
  for (const Seen& batch : batches) {
    samples.insert(samples.end(), batch.index.begin(),
                   batch.index.end() - static_cast<ptrdiff_t>(batch.pad));
  }
  return samples;
}

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::ranges::sort(values);
  return values;
}

std::vector<int64_t> Iota(int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

Array ArrayOf(std::vector<int64_t> shape, const std::vector<float>& values) {
  auto array = Array::Allocate(ElementType::kF32, std::move(shape));
  REQUIRE(array.ok());
  std::ranges::copy(std::as_bytes(std::span(values)), array->bytes().begin());
  return *array;
}

std::string BigEndian(std::initializer_list<uint32_t> words) {
  std::string bytes;
  for (const uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(word >> shift);
    }
  }
  return bytes;
}

std::string GzipOf(const std::string& content) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string PngOf(int width, int height, int channels, int seed) {
  std::string pixels;
  for (int i = 0; i < width * height * channels; ++i) {
    pixels += static_cast<char>((i * 7 + seed * 31) % 256);
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  REQUIRE(png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0,
                                    nullptr));
  std::string file(size, '\0');
  REQUIRE(png_image_write_to_memory(&image, file.data(), &size, 0,
                                    pixels.data(), 0, nullptr));
  file.resize(size);
  return file;
}

}  // namespace mxc::data
