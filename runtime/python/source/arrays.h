// SPDX-License-Identifier: Apache-2.0
// Arrays of Python as memory: by the buffer protocol, which is the faster way
// (NumPy, bytes, memoryview), else by DLPack (PyTorch and others). Nothing is
// copied, and nothing is converted: another type or shape is an error.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "runtime/mxc.h"

namespace mxc::python {

namespace nb = nanobind;

// What an array must be. The dims belong to the model.
struct ArrayType {
  std::string name;
  mxc_dtype dtype = MXC_F32;
  std::vector<int64_t> dims;
  uint64_t bytes = 0;
};
ArrayType TypeOf(const mxc_tensor& tensor);

// The memory of an array, kept alive and in place as long as this lives.
class HeldArray {
 public:
  // Throws TypeError or ValueError that names the tensor, what was found and
  // what is expected.
  HeldArray(nb::handle array, const ArrayType& expected);
  ~HeldArray();
  HeldArray(HeldArray&& other) noexcept;
  HeldArray(const HeldArray&) = delete;

  const void* memory() const { return memory_; }

 private:
  bool HoldBuffer(nb::handle array, const ArrayType& expected);
  void HoldDlpack(nb::handle array, const ArrayType& expected);

  Py_buffer buffer_{};
  nb::ndarray<nb::ro> dlpack_;
  const void* memory_ = nullptr;
};

// Returns whether the array has this shape, as far as Python can tell: its
// attribute `shape`.
bool HasShape(nb::handle array, const std::vector<int64_t>& dims);

// Makes arrays for outputs: numpy.empty(dims, dtype).
class OutputArray {
 public:
  explicit OutputArray(const ArrayType& type);
  // `memory` is that of the array.
  nb::object Make(void** memory) const;

 private:
  nb::object empty_, shape_, dtype_;
  ArrayType type_;
};

}  // namespace mxc::python
