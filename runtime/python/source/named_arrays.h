// SPDX-License-Identifier: Apache-2.0
// Arrays of runtime/formats as NumPy's, and back; its statuses as exceptions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::python {

namespace nb = nanobind;

// Dense, row-major, in the host's memory.
using InputArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

runtime::ElementType ElementTypeOf(const InputArray& array);  // or TypeError
std::vector<int64_t> ShapeOf(const InputArray& array);
std::span<const std::byte> BytesOf(const InputArray& array);
runtime::Array CopyOf(const InputArray& array);

// A copy.
nb::object NumpyOf(const runtime::Array& array);

// Raises ValueError where the caller is wrong, mxc.Error for all else.
void Check(const runtime::Status& status);
template <class T>
T Take(runtime::StatusOr<T> value) {
  Check(value.status());
  return std::move(*value);
}

}  // namespace mxc::python
