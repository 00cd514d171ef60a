// SPDX-License-Identifier: Apache-2.0
#include "runtime/python/source/named_arrays.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <new>

#include "runtime/python/source/element.h"

namespace mxc::python {
namespace {

const char* CodeName(runtime::StatusCode code) {
  switch (code) {
    case runtime::StatusCode::kNotFound:
      return "not found";
    case runtime::StatusCode::kCorrupt:
      return "corrupt";
    case runtime::StatusCode::kUnsupported:
      return "unsupported";
    case runtime::StatusCode::kIo:
      return "io";
    default:
      return "failed";
  }
}

}  // namespace

runtime::ElementType ElementTypeOf(const InputArray& array) {
  const auto type = runtime::ElementTypeFromFlag(TypeFlag(array.dtype()));
  if (!type) throw nb::type_error("an array of a type that mxc does not have");
  return *type;
}

std::vector<int64_t> ShapeOf(const InputArray& array) {
  std::vector<int64_t> shape;
  for (size_t a = 0; a < array.ndim(); ++a) {
    shape.push_back(static_cast<int64_t>(array.shape(a)));
  }
  return shape;
}

std::span<const std::byte> BytesOf(const InputArray& array) {
  return {static_cast<const std::byte*>(array.data()), array.nbytes()};
}

runtime::Array CopyOf(const InputArray& array) {
  runtime::Array copy =
      Take(runtime::Array::Allocate(ElementTypeOf(array), ShapeOf(array)));
  const auto bytes = BytesOf(array);
  if (!bytes.empty()) {
    std::memcpy(copy.bytes().data(), bytes.data(), bytes.size());
  }
  return copy;
}

nb::object NumpyOf(const runtime::Array& array) {
  if (array.type == runtime::ElementType::kBF16) {
    throw nb::type_error("bfloat16, which NumPy does not have");
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::list shape;
  for (const int64_t dim : array.shape) shape.append(dim);
  const nb::object made = numpy.attr("empty")(
      nb::tuple(shape),
      nb::str(std::string(runtime::ElementName(array.type)).c_str()));
  Py_buffer buffer;
  if (PyObject_GetBuffer(made.ptr(), &buffer, PyBUF_WRITABLE) != 0) {
    throw nb::python_error();
  }
  const auto bytes = array.bytes();
  if (!bytes.empty()) std::memcpy(buffer.buf, bytes.data(), bytes.size());
  PyBuffer_Release(&buffer);
  return made;
}

void Check(const runtime::Status& status) {
  if (status.ok()) return;
  if (status.code() == runtime::StatusCode::kInvalidArgument) {
    throw nb::value_error(status.message().c_str());
  }
  if (status.code() == runtime::StatusCode::kOutOfMemory)
    throw std::bad_alloc();
  const nb::object type = nb::module_::import_("mxc._errors").attr("Error");
  const nb::object error = type(status.message(), CodeName(status.code()));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace mxc::python
