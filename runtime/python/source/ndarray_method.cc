// SPDX-License-Identifier: Apache-2.0
// Of the module mxc._ndarray: arithmetic of two arrays, for which a frame of
// Python's would cost more than the call itself.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <bit>
#include <map>
#include <tuple>

#include "runtime/python/source/ndarray.h"

namespace mxc::python {
namespace {

nb::object Attribute(nb::handle object, const nb::object& name) {
  return nb::steal(PyObject_GetAttr(object.ptr(), name.ptr()));
}

// Arrays of a Python class, which keep an Array in "_array" and where it lies in
// "_ctx".
class ArrayClass {
 public:
  explicit ArrayClass(nb::handle cls)
      : type_(reinterpret_cast<PyTypeObject*>(cls.ptr())),
        make_(reinterpret_cast<allocfunc>(PyType_GetSlot(type_, Py_tp_alloc))) {
  }

  bool IsOf(nb::handle value) const { return Py_TYPE(value.ptr()) == type_; }

  nb::object ArrayOf(nb::handle value) const {
    return Attribute(value, array_);
  }

  // One more, where `like` lies.
  nb::object Make(mxc_ndarray* handle, nb::handle like) const {
    const nb::object array = nb::cast(ArrayHandle(handle));
    nb::object made = nb::steal(make_(type_, 0));
    const nb::object where = Attribute(like, where_);
    if (!made.is_valid() || !where.is_valid() ||
        PyObject_SetAttr(made.ptr(), array_.ptr(), array.ptr()) != 0 ||
        PyObject_SetAttr(made.ptr(), where_.ptr(), where.ptr()) != 0) {
      throw nb::python_error();
    }
    return made;
  }

 private:
  PyTypeObject* const type_;
  const allocfunc make_;
  const nb::object array_ = nb::steal(PyUnicode_InternFromString("_array"));
  const nb::object where_ = nb::steal(PyUnicode_InternFromString("_ctx"));
};

// Numbers as arrays without axes, which are kept: programs use few of them.
class Scalars {
 public:
  // `make` gives the Array of a number and the name of a type.
  explicit Scalars(nb::object make) : make_(std::move(make)) {}

  // Null for what is no plain number.
  nb::object Of(nb::handle value, mxc_dtype dtype) {
    const bool is_float = PyFloat_CheckExact(value.ptr()) != 0;
    if (!is_float && PyLong_CheckExact(value.ptr()) == 0) return {};
    int overflow = 0;
    const uint64_t bits =
        is_float ? std::bit_cast<uint64_t>(PyFloat_AsDouble(value.ptr()))
                 : static_cast<uint64_t>(
                       PyLong_AsLongLongAndOverflow(value.ptr(), &overflow));
    if (overflow != 0) return {};
    nb::object& kept = kept_[{is_float, dtype, bits}];
    if (!kept.is_valid()) {
      const nb::object made = make_(value, mxc_dtype_name(dtype));
      if (kept_.size() > kMost) kept_.clear();
      kept_[{is_float, dtype, bits}] = made;
      return made;
    }
    return kept;
  }

 private:
  static constexpr size_t kMost = 4096;
  using Key = std::tuple<bool, mxc_dtype, uint64_t>;
  const nb::object make_;
  std::map<Key, nb::object> kept_;
};

mxc_ndarray* HandleOf(const nb::object& array) {
  const ArrayHandle* found = nullptr;
  return array.is_valid() && nb::try_cast(array, found) ? found->get()
                                                        : nullptr;
}

// What methods of one class share.
struct Methods {
  Methods(nb::handle cls, nb::object make_scalar, nb::object others)
      : arrays(cls), scalars(std::move(make_scalar)), others(others) {}

  ArrayClass arrays;
  Scalars scalars;
  nb::object others;
  bool is_watched = false;
};

class BinaryMethod {
 public:
  BinaryMethod(std::shared_ptr<Methods> methods, std::string name,
               bool reflected)
      : methods_(std::move(methods)),
        name_(std::move(name)),
        reflected_(reflected) {
    mxc_ndarray_op* op = nullptr;
    Check(mxc_ndarray_op_find(name_.c_str(), nullptr, nullptr, 0, &op));
    op_.reset(op, &mxc_ndarray_op_release);
  }

  nb::object operator()(nb::handle self, nb::handle other) const {
    const ArrayClass& arrays = methods_->arrays;
    if (methods_->is_watched || !arrays.IsOf(self)) return Others(self, other);
    const nb::object a = arrays.ArrayOf(self);
    const mxc_ndarray* const mine = HandleOf(a);
    if (mine == nullptr) return Others(self, other);
    const nb::object b =
        arrays.IsOf(other)
            ? arrays.ArrayOf(other)
            : methods_->scalars.Of(other, mxc_ndarray_dtype(mine));
    mxc_ndarray* inputs[] = {HandleOf(a), HandleOf(b)};
    if (inputs[1] == nullptr) return Others(self, other);
    if (reflected_) std::swap(inputs[0], inputs[1]);
    mxc_ndarray* result = nullptr;
    WithoutGil([&] {
      return mxc_ndarray_op_call(op_.get(), inputs, 2, &result, 1, 0);
    });
    return arrays.Make(result, self);
  }

 private:
  nb::object Others(nb::handle self, nb::handle other) const {
    PyErr_Clear();
    return reflected_ ? methods_->others(name_, other, self)
                      : methods_->others(name_, self, other);
  }

  std::shared_ptr<Methods> methods_;
  std::string name_;
  bool reflected_;
  std::shared_ptr<mxc_ndarray_op> op_;
};

}  // namespace

void DeclareMethods(nb::module_& m) {
  nb::class_<Methods>(
      m, "BinaryMethods",
      "Methods of a class, by which operators of two inputs and "
      "no attributes are called.")
      .def(nb::init<nb::handle, nb::object, nb::object>(), nb::arg("cls"),
           nb::arg("make_scalar"), nb::arg("others"),
           nb::sig("def __init__(self, cls: type, make_scalar: "
                   "collections.abc.Callable[[float, str], Array], others: "
                   "collections.abc.Callable[[str, object, object], object]) "
                   "-> None"),
           "`make_scalar` gives the Array of a number and a type; "
           "`others(name, left, right)` what comes of operands that are no "
           "objects of exactly this class and no plain numbers.")
      .def_rw("is_watched", &Methods::is_watched,
              "whether `others` is called for all operands")
      .def(
          "method",
          [](std::shared_ptr<Methods> methods, std::string name,
             bool reflected) {
            return nb::cpp_function(
                BinaryMethod(std::move(methods), std::move(name), reflected),
                nb::is_method(), nb::arg("other").none(),
                nb::sig("def method(self, other: object) -> typing.Any"));
          },
          nb::arg("name"), nb::arg("reflected") = false,
          nb::sig("def method(self, name: str, reflected: bool = False) -> "
                  "typing.Any"));
}

}  // namespace mxc::python
