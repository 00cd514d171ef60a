// SPDX-License-Identifier: Apache-2.0
#include "runtime/python/source/error.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace mxc::python {

namespace nb = nanobind;

namespace {

const char* CodeName(mxc_code code) {
  switch (code) {
    case MXC_INVALID_ARGUMENT:
      return "invalid argument";
    case MXC_NOT_FOUND:
      return "not found";
    case MXC_CORRUPT:
      return "corrupt";
    case MXC_UNSUPPORTED:
      return "unsupported";
    case MXC_OUT_OF_MEMORY:
      return "out of memory";
    case MXC_IO:
      return "io";
    case MXC_BUSY:
      return "busy";
    default:
      return "failed";
  }
}

}  // namespace

void Raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

void Check(mxc_status* status) {
  if (status == nullptr) return;
  const mxc_code code = mxc_status_code(status);
  const std::string message = mxc_status_message(status);
  mxc_status_release(status);
  const nb::object type = nb::module_::import_("mxc._errors").attr("Error");
  const nb::object error = type(message, CodeName(code));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace mxc::python
