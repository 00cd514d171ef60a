// SPDX-License-Identifier: Apache-2.0
// The module mxc._ndarray: arrays and operators that are called one by one. It
// has no policy of its own: mxc.mxnet makes of it what MXNet's users know.
#include "runtime/python/source/ndarray.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "runtime/python/source/element.h"

namespace mxc::python {
namespace {

using ReadArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

ArrayHandle MakeArray(mxc_dtype dtype, const std::vector<int64_t>& dims,
                      const void* values) {
  mxc_ndarray* made = nullptr;
  WithoutGil([&] {
    return mxc_ndarray_create(dtype, dims.data(), dims.size(), values, &made);
  });
  return ArrayHandle(made);
}

mxc_dtype DtypeOf(const ReadArray& array) {
  const int flag = TypeFlag(array.dtype());
  if (flag < 0) Raise(PyExc_TypeError, "no array has this element type");
  return static_cast<mxc_dtype>(flag);
}

nb::tuple ShapeOf(const ArrayHandle& array) {
  const size_t rank = mxc_ndarray_rank(array.get());
  const int64_t* const dims = mxc_ndarray_dims(array.get());
  nb::object shape = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(rank)));
  for (size_t a = 0; a < rank; ++a) {
    PyTuple_SetItem(shape.ptr(), static_cast<Py_ssize_t>(a),
                    PyLong_FromLongLong(dims[a]));
  }
  return nb::cast<nb::tuple>(shape);
}

// numpy.empty(shape, dtype), filled.
nb::object Numpy(const ArrayHandle& array) {
  const mxc_dtype dtype = mxc_ndarray_dtype(array.get());
  if (dtype == MXC_BF16) {
    Raise(PyExc_TypeError, "the array is bfloat16, which NumPy does not have");
  }
  const nb::object made = nb::module_::import_("numpy").attr("empty")(
      ShapeOf(array), mxc_dtype_name(dtype));
  Py_buffer buffer;
  if (PyObject_GetBuffer(made.ptr(), &buffer, PyBUF_WRITABLE) != 0) {
    throw nb::python_error();
  }
  void* const memory = buffer.buf;
  PyBuffer_Release(&buffer);  // the array keeps its memory where it is
  WithoutGil([&] {
    return mxc_ndarray_read(array.get(), memory,
                            mxc_ndarray_bytes(array.get()));
  });
  return made;
}

nb::dlpack::dtype DlpackOf(mxc_dtype dtype) {
  using nb::dlpack::dtype_code;
  const auto bits = static_cast<uint8_t>(8 * mxc_dtype_size(dtype));
  const std::string_view name = mxc_dtype_name(dtype);
  dtype_code code = dtype_code::Float;
  if (name.starts_with("int")) code = dtype_code::Int;
  if (name.starts_with("uint")) code = dtype_code::UInt;
  if (name == "bool") code = dtype_code::Bool;
  if (name == "bfloat16") code = dtype_code::Bfloat;
  return {static_cast<uint8_t>(code), bits, 1};
}

// The elements where they lie.
nb::object Memory(nb::handle owner, bool writes) {
  const auto& array = nb::cast<const ArrayHandle&>(owner);
  void* elements = nullptr;
  WithoutGil(
      [&] { return mxc_ndarray_map(array.get(), writes ? 1 : 0, &elements); });
  std::vector<size_t> shape;
  for (const int64_t dim : array.dims()) {
    shape.push_back(static_cast<size_t>(dim));
  }
  const nb::ndarray<nb::numpy> view(elements, shape.size(), shape.data(), owner,
                                    nullptr,
                                    DlpackOf(mxc_ndarray_dtype(array.get())));
  return nb::cast(view, nb::rv_policy::reference);
}

void Write(const ArrayHandle& array, const ReadArray& values) {
  if (DtypeOf(values) != mxc_ndarray_dtype(array.get())) {
    Raise(PyExc_TypeError, std::string("the array is ") +
                               mxc_dtype_name(mxc_ndarray_dtype(array.get())) +
                               ", the values are " +
                               mxc_dtype_name(DtypeOf(values)));
  }
  WithoutGil([&] {
    return mxc_ndarray_write(array.get(), values.data(), values.nbytes());
  });
}

ArrayHandle Reshape(const ArrayHandle& array,
                    const std::vector<int64_t>& dims) {
  mxc_ndarray* view = nullptr;
  Check(mxc_ndarray_reshape(array.get(), dims.data(), dims.size(), &view));
  return ArrayHandle(view);
}

ArrayHandle Slice(const ArrayHandle& array, int64_t begin, int64_t end) {
  mxc_ndarray* view = nullptr;
  Check(mxc_ndarray_slice(array.get(), begin, end, &view));
  return ArrayHandle(view);
}

std::vector<int64_t> DimsOf(const ReadArray& values) {
  std::vector<int64_t> dims;
  for (size_t a = 0; a < values.ndim(); ++a) {
    dims.push_back(static_cast<int64_t>(values.shape(a)));
  }
  return dims;
}

// The array keeps the NumPy array.
ArrayHandle OverNumpy(const ReadArray& values) {
  auto* const kept = new ReadArray(values);
  const mxc_dtype dtype = DtypeOf(values);
  const std::vector<int64_t> dims = DimsOf(values);
  mxc_ndarray* made = nullptr;
  WithoutGil([&] {
    return mxc_ndarray_over(
        dtype, dims.data(), dims.size(), const_cast<void*>(values.data()),
        [](void* context) {
          const GilTaken taken;
          delete static_cast<ReadArray*>(context);
        },
        kept, &made);
  });
  return ArrayHandle(made);
}

}  // namespace

mxc_dtype DtypeOf(const std::string& name) {
  for (int flag = 0; flag <= MXC_BF16; ++flag) {
    const auto dtype = static_cast<mxc_dtype>(flag);
    if (name == mxc_dtype_name(dtype)) return dtype;
  }
  Raise(PyExc_TypeError, "no array has the element type '" + name + "'");
}

std::vector<mxc_ndarray*> HandlesOf(nb::handle arrays, bool allow_none) {
  std::vector<mxc_ndarray*> handles;
  for (const nb::handle item : arrays) {
    if (allow_none && item.is_none()) {
      handles.push_back(nullptr);
      continue;
    }
    const ArrayHandle* array = nullptr;
    if (!nb::try_cast(item, array)) {
      Raise(PyExc_TypeError, "an Array is expected, and " +
                                 std::string(nb::repr(item).c_str()) +
                                 " is given");
    }
    handles.push_back(array->get());
  }
  return handles;
}

nb::list ResultsIn(const std::vector<mxc_ndarray*>& results,
                   const nb::object& outputs) {
  nb::list arrays;
  for (size_t o = 0; o < results.size(); ++o) {
    const nb::object same =
        outputs.is_none() ? nb::object(nb::none()) : nb::object(outputs[o]);
    arrays.append(same.is_none() ? nb::cast(ArrayHandle(results[o])) : same);
  }
  return arrays;
}

void DeclareArray(nb::module_& m) {
  nb::class_<ArrayHandle>(m, "Array", "Memory with a type and a shape.")
      .def_prop_ro(
          "shape", &ShapeOf,
          nb::for_getter(nb::sig("def shape(self, /) -> tuple[int, ...]")))
      .def_prop_ro(
          "dtype",
          [](const ArrayHandle& array) {
            return mxc_dtype_name(mxc_ndarray_dtype(array.get()));
          },
          "as NumPy names it: \"float32\"")
      .def("reshape", &Reshape, nb::arg("dims"),
           "A view: the same elements under another shape.")
      .def("slice", &Slice, nb::arg("begin"), nb::arg("end"),
           "A view of rows from `begin` to before `end`.")
      // Before "numpy", which in the stub hides the module of that name.
      .def("memory", &Memory, nb::arg("writes") = false,
           nb::sig("def memory(self, writes: bool = False) -> "
                   "numpy.typing.NDArray[typing.Any]"),
           "The elements where they lie, for as long as no call takes the "
           "array; `writes`: to be written, too.")
      .def("numpy", &Numpy,
           nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
           "A copy, of what was called before.")
      .def("write", &Write, nb::arg("values"),
           nb::sig("def write(self, values: object) -> None"),
           "From an array of the same type and number of elements.")
      .def(
          "copy_to",
          [](const ArrayHandle& from, const ArrayHandle& to) {
            WithoutGil([&] { return mxc_ndarray_copy(from.get(), to.get()); });
          },
          nb::arg("to"), "Of the same type and shape; in its turn.")
      .def(
          "fail",
          [](const ArrayHandle& array, const std::string& sentence) {
            Check(mxc_ndarray_fail(array.get(), sentence.c_str()));
          },
          nb::arg("sentence"),
          "In its turn it has no value: who asks for it is told the sentence.")
      .def(
          "wait",
          [](const ArrayHandle& array) {
            WithoutGil([&] { return mxc_ndarray_wait(array.get()); });
          },
          "Until it has its value; raises what went wrong on the way to it.");
  m.def(
      "empty",
      [](const std::vector<int64_t>& shape, const std::string& dtype) {
        return MakeArray(DtypeOf(dtype), shape, nullptr);
      },
      nb::arg("shape"), nb::arg("dtype") = "float32", "Zeros.");
  m.def(
      "from_numpy",
      [](const ReadArray& values) {
        return MakeArray(DtypeOf(values), DimsOf(values), values.data());
      },
      nb::arg("values"), nb::sig("def from_numpy(values: object) -> Array"),
      "A copy of a dense, row-major array.");
  m.def("over_numpy", &OverNumpy, nb::arg("values"),
        nb::sig("def over_numpy(values: object) -> Array"),
        "Over the memory of a dense, row-major array, which it keeps.");
}

}  // namespace mxc::python

NB_MODULE(_ndarray, m) {
  // Threads that run when the interpreter ends keep what they use.
  nanobind::set_leak_warnings(false);
  mxc::python::DeclareArray(m);
  mxc::python::DeclareAutograd(m);
  mxc::python::DeclareOperator(m);
  mxc::python::DeclareGraph(m);
  mxc::python::DeclareMethods(m);
}
