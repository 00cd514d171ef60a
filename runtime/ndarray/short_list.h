// SPDX-License-Identifier: Apache-2.0
// Lists of a few elements, on the stack of who calls.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace mxc::runtime {

// Of at most `most` elements, which is known when it begins; T is a plain type.
template <class T, size_t kInside = 16>
class ShortList {
 public:
  explicit ShortList(size_t most)
      : outside_(most > kInside ? new T[most] : nullptr),
        elements_(outside_ != nullptr ? outside_.get() : inside_) {}
  ShortList(const ShortList&) = delete;
  ShortList& operator=(const ShortList&) = delete;

  void Add(T element) { elements_[size_++] = element; }
  void Clear() { size_ = 0; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return elements_[i]; }
  std::span<T> all() { return {elements_, size_}; }

 private:
  union {  // without values until they are added
    T inside_[kInside];
  };
  const std::unique_ptr<T[]> outside_;
  T* const elements_;
  size_t size_ = 0;
};

}  // namespace mxc::runtime
