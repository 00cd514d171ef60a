// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/arrays.h"

#include <utility>

#include "runtime/formats/npy.h"
#include "tests/fuzz/corpus.h"

namespace mxc::fuzz {

using runtime::Array;
using runtime::ElementType;
using runtime::NamedArray;

Array SmallArray(ElementType type, std::vector<int64_t> shape) {
  auto array = Array::Allocate(type, std::move(shape));
  unsigned char next = 0;
  for (std::byte& byte : array->bytes()) byte = std::byte(++next % 3);
  return std::move(*array);
}

std::vector<std::vector<NamedArray>> SmallArrays() {
  std::vector<NamedArray> all;
  for (const ElementType type :
       {ElementType::kF32, ElementType::kF64, ElementType::kF16,
        ElementType::kU8, ElementType::kI32, ElementType::kI8,
        ElementType::kI64, ElementType::kBool}) {
    const std::string name(runtime::ElementName(type));
    all.push_back({"arg:" + name, SmallArray(type, {2, 3})});
  }
  return {all,
          {{"arg:a", SmallArray(ElementType::kF32, {2, 2})},
           {"aux:b", SmallArray(ElementType::kI64, {1})}},
          {{"", SmallArray(ElementType::kF32, {3})}},
          {{"arg:scalar", SmallArray(ElementType::kF32, {})}},
          {}};
}

std::vector<std::string> SmallFiles(WriteArrays write) {
  std::vector<std::string> files;
  for (const auto& arrays : SmallArrays()) {
    files.push_back(
        FileOf([&](const std::string& path) { (void)write(path, arrays); }));
  }
  return files;
}

std::vector<std::string> SmallNpyFiles() {
  std::vector<std::string> files;
  for (const auto& arrays : SmallArrays()) {
    for (const NamedArray& named : arrays) {
      files.push_back(FileOf([&](const std::string& path) {
        (void)runtime::WriteNpy(path, named.array);
      }));
    }
  }
  return files;
}

}  // namespace mxc::fuzz
