// SPDX-License-Identifier: Apache-2.0
// What tests of iterators share: opening, draining, temporary folders.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"

namespace mxc::data {

// A folder that goes with the test.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  // Writes a file, making the folders above it.
  std::string Write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

IteratorOptions Options(int64_t batch_size, Settings settings = {});

inline bool Says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::unique_ptr<Iterator> MustOpen(const std::string& spec,
                                   const IteratorOptions& options);
// The sentence with which Open refuses.
std::string Refusal(const std::string& spec, const IteratorOptions& options);

std::span<const float> Floats(const NamedArray& array);

// A copy that a later Next does not touch.
struct Seen {
  int64_t epoch, pad;
  int bucket;
  std::vector<int64_t> index;
  std::vector<std::vector<float>> data, labels;

  bool operator==(const Seen&) const = default;
};

// The batches of the epoch that is current; its end is taken.
std::vector<Seen> Drain(Iterator& iterator);
// The samples of all rows but the padding.
std::vector<int64_t> Samples(const std::vector<Seen>& batches);

std::vector<int64_t> Sorted(std::vector<int64_t> values);
std::vector<int64_t> Iota(int64_t count);  // 0, 1, …

Array ArrayOf(std::vector<int64_t> shape, const std::vector<float>& values);
std::string BigEndian(std::initializer_list<uint32_t> words);
std::string GzipOf(const std::string& content);
// A PNG of one colour or of a pattern that `seed` decides.
std::string PngOf(int width, int height, int channels, int seed);

}  // namespace mxc::data
