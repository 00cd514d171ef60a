// SPDX-License-Identifier: Apache-2.0
// Arrays and operators of tools/imperative/mxc_ndarray.h as Python's objects.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/python/source/error.h"
#include "tools/imperative/mxc_ndarray.h"

namespace mxc::python {

namespace nb = nanobind;

// A handle of memory that several may share.
class ArrayHandle {
 public:
  // Takes the handle over.
  explicit ArrayHandle(mxc_ndarray* handle) : handle_(handle) {}

  mxc_ndarray* get() const { return handle_.get(); }
  std::vector<int64_t> dims() const {
    const int64_t* const first = mxc_ndarray_dims(get());
    return {first, first + mxc_ndarray_rank(get())};
  }

 private:
  struct Release {
    void operator()(mxc_ndarray* handle) const { mxc_ndarray_release(handle); }
  };
  std::unique_ptr<mxc_ndarray, Release> handle_;
};

// The arrays of a list, in which None (where it is allowed) becomes null. They
// live as long as the list.
std::vector<mxc_ndarray*> HandlesOf(nb::handle arrays, bool allow_none);
// The results of a call as a list: where `outputs`, None or a list, has an array
// it is that; others are new.
nb::list ResultsIn(const std::vector<mxc_ndarray*>& results,
                   const nb::object& outputs);

// Tells which line of the user's program calls, where that is asked for.
void TellLine();

// The element type of a name, "float32"; raises TypeError.
mxc_dtype DtypeOf(const std::string& name);

// Calls over the GIL: `call` runs without it and gives a status, which is raised.
template <class Call>
void WithoutGil(Call call);

void DeclareArray(nb::module_& m);
void DeclareAutograd(nb::module_& m);
void DeclareOperator(nb::module_& m);
void DeclareGraph(nb::module_& m);
void DeclareMethods(nb::module_& m);

}  // namespace mxc::python

#include "runtime/python/source/gil.h"

namespace mxc::python {

template <class Call>
void WithoutGil(Call call) {
  mxc_status* status = nullptr;
  {
    const GilReleased released;
    status = call();
  }
  Check(status);
}

}  // namespace mxc::python
