// SPDX-License-Identifier: Apache-2.0
// A status of the C API as Python's mxc.Error.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "runtime/mxc.h"

namespace mxc::python {

// Throws mxc.Error with the message and the code's name, and releases the
// status; null is success. The caller holds the GIL.
void Check(mxc_status* status);

// Throws a Python exception of this type.
[[noreturn]] void Raise(PyObject* type, const std::string& message);

}  // namespace mxc::python
