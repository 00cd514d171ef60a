// SPDX-License-Identifier: Apache-2.0
#include "runtime/python/source/arrays.h"

#include <cstring>
#include <utility>

#include "runtime/python/source/error.h"

namespace mxc::python {
namespace {

// Of a letter of Python's struct module: 'f' float, 'i' signed, 'u' unsigned,
// 'b' bool; 0: none of them.
char KindOfFormat(const char* format) {
  if (format == nullptr) return 'u';
  if (*format == '<' || *format == '=' || *format == '@') ++format;
  if (*format == '\0' || format[1] != '\0') return 0;
  if (std::strchr("efd", *format) != nullptr) return 'f';
  if (std::strchr("bhilqn", *format) != nullptr) return 'i';
  if (std::strchr("BHILQN", *format) != nullptr) return 'u';
  return *format == '?' ? 'b' : 0;
}

char KindOf(mxc_dtype dtype) {
  switch (dtype) {
    case MXC_F32:
    case MXC_F64:
    case MXC_F16:
      return 'f';
    case MXC_BOOL:
      return 'b';
    case MXC_I8:
    case MXC_I16:
    case MXC_I32:
    case MXC_I64:
      return 'i';
    case MXC_BF16:
      return 0;
    default:
      return 'u';
  }
}

bool SameType(nb::dlpack::dtype found, mxc_dtype expected) {
  using nb::dlpack::dtype_code;
  char kind = 0;
  if (found.code == static_cast<uint8_t>(dtype_code::Float)) kind = 'f';
  if (found.code == static_cast<uint8_t>(dtype_code::Int)) kind = 'i';
  if (found.code == static_cast<uint8_t>(dtype_code::UInt)) kind = 'u';
  if (found.code == static_cast<uint8_t>(dtype_code::Bool)) kind = 'b';
  return kind == KindOf(expected) && found.lanes == 1 &&
         found.bits == 8 * mxc_dtype_size(expected);
}

std::string ShapeText(const std::vector<int64_t>& dims) {
  std::string text = "(";
  for (const int64_t dim : dims) text += std::to_string(dim) + ", ";
  if (dims.size() > 1) text.resize(text.size() - 2);
  if (dims.size() == 1) text.resize(text.size() - 1);
  return text + ")";
}

std::string Attribute(nb::handle array, const char* name) {
  const nb::object value = nb::getattr(array, name, nb::none());
  return nb::str(value).c_str();
}

[[noreturn]] void RefuseType(nb::handle array, const ArrayType& expected) {
  Raise(PyExc_TypeError, "'" + expected.name + "' takes " +
                             mxc_dtype_name(expected.dtype) + ", not " +
                             Attribute(array, "dtype"));
}
[[noreturn]] void RefuseShape(const std::vector<int64_t>& found,
                              const ArrayType& expected) {
  Raise(PyExc_ValueError, "'" + expected.name + "' has shape " +
                              ShapeText(expected.dims) + ", not " +
                              ShapeText(found));
}
[[noreturn]] void RefuseStrides(const ArrayType& expected) {
  Raise(PyExc_ValueError, "'" + expected.name +
                              "' is not contiguous: numpy.ascontiguousarray "
                              "makes a copy that is");
}

[[noreturn]] void RefuseAlignment(const ArrayType& expected) {
  Raise(PyExc_ValueError, "'" + expected.name +
                              "' is not aligned to its elements: a copy of it "
                              "is");
}

// The buffer of a masked array is all that lies below the mask.
void RefuseMasked(nb::handle array, const ArrayType& expected) {
  if (!nb::hasattr(array, "filled")) return;
  Raise(PyExc_TypeError, "'" + expected.name +
                             "' is a masked array: its filled(value) has a "
                             "value for every element");
}

}  // namespace

ArrayType TypeOf(const mxc_tensor& tensor) {
  return {tensor.name,
          tensor.dtype,
          {tensor.dims, tensor.dims + tensor.rank},
          tensor.bytes};
}

HeldArray::HeldArray(nb::handle array, const ArrayType& expected) {
  RefuseMasked(array, expected);
  if (!PyObject_CheckBuffer(array.ptr()) || !HoldBuffer(array, expected)) {
    HoldDlpack(array, expected);
  }
  // The runtime reads elements where they lie.
  const uint64_t element = mxc_dtype_size(expected.dtype);
  if (reinterpret_cast<uintptr_t>(memory_) % element == 0) return;
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  RefuseAlignment(expected);
}

HeldArray::~HeldArray() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

HeldArray::HeldArray(HeldArray&& other) noexcept
    : buffer_(std::exchange(other.buffer_, Py_buffer{})),
      dlpack_(std::move(other.dlpack_)),
      memory_(other.memory_) {}

bool HeldArray::HoldBuffer(nb::handle array, const ArrayType& expected) {
  if (PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    buffer_ = {};
    return false;
  }
  const std::vector<int64_t>& dims = expected.dims;
  if (KindOfFormat(buffer_.format) != KindOf(expected.dtype) ||
      buffer_.itemsize !=
          static_cast<Py_ssize_t>(mxc_dtype_size(expected.dtype))) {
    PyBuffer_Release(&buffer_);
    RefuseType(array, expected);
  }
  const auto rank = static_cast<size_t>(buffer_.ndim);
  if (rank != dims.size() ||
      !std::equal(dims.begin(), dims.end(), buffer_.shape)) {
    const std::vector<int64_t> found(buffer_.shape, buffer_.shape + rank);
    PyBuffer_Release(&buffer_);
    RefuseShape(found, expected);
  }
  if (PyBuffer_IsContiguous(&buffer_, 'C') == 0) {
    PyBuffer_Release(&buffer_);
    RefuseStrides(expected);
  }
  memory_ = buffer_.buf;
  return true;
}

void HeldArray::HoldDlpack(nb::handle array, const ArrayType& expected) {
  if (!nb::try_cast(array, dlpack_)) {
    Raise(PyExc_TypeError,
          "'" + expected.name + "' takes an array, not " +
              nb::str(nb::handle(Py_TYPE(array.ptr()))).c_str());
  }
  if (dlpack_.device_type() != nb::device::cpu::value) {
    Raise(PyExc_ValueError,
          "'" + expected.name + "' must lie in the host's memory");
  }
  if (!SameType(dlpack_.dtype(), expected.dtype)) RefuseType(array, expected);
  std::vector<int64_t> found;
  for (size_t a = 0; a < dlpack_.ndim(); ++a) {
    found.push_back(static_cast<int64_t>(dlpack_.shape(a)));
  }
  if (found != expected.dims) RefuseShape(found, expected);
  int64_t stride = 1;
  for (size_t a = found.size(); a-- > 0; stride *= found[a]) {
    if (found[a] > 1 && dlpack_.stride(a) != stride) RefuseStrides(expected);
  }
  memory_ = dlpack_.data();
}

bool HasShape(nb::handle array, const std::vector<int64_t>& dims) {
  const nb::object shape = nb::getattr(array, "shape", nb::none());
  if (shape.is_none() || nb::len(shape) != dims.size()) return false;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (nb::cast<int64_t>(shape[a]) != dims[a]) return false;
  }
  return true;
}

OutputArray::OutputArray(const ArrayType& type) : type_(type) {
  if (type.dtype == MXC_BF16) {
    Raise(PyExc_TypeError,
          "output '" + type.name + "' is bfloat16, which NumPy does not have");
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  empty_ = numpy.attr("empty");
  dtype_ = numpy.attr("dtype")(mxc_dtype_name(type.dtype));
  nb::list dims;
  for (const int64_t dim : type.dims) dims.append(dim);
  shape_ = nb::tuple(dims);
}

nb::object OutputArray::Make(void** memory) const {
  PyObject* const arguments[] = {shape_.ptr(), dtype_.ptr()};
  nb::object array =
      nb::steal(PyObject_Vectorcall(empty_.ptr(), arguments, 2, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_WRITABLE) != 0) {
    throw nb::python_error();
  }
  *memory = buffer.buf;
  PyBuffer_Release(&buffer);  // the array keeps its memory where it is
  return array;
}

}  // namespace mxc::python
