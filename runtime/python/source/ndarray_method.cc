// SPDX-License-Identifier: Apache-2.0
// Of the module mxc._ndarray: arithmetic of two arrays, and operators of one
// without arguments, for which frames of Python's would cost more than the call.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <bit>
#include <map>
#include <tuple>

#include "runtime/python/source/ndarray.h"
#include "tools/imperative/mxc_autograd.h"

namespace mxc::python {
namespace {

// One of a class's __slots__, read and written where an object has it, which takes a
// tenth of the time that asking for the attribute does.
class Slot {
 public:
  // Looks where an object of the class, `made`, keeps what is given to it: the
  // stable ABI does not say.
  Slot(nb::handle cls, nb::handle made, const char* name) {
    const nb::object mark = nb::steal(PyList_New(0));
    nb::setattr(made, name, mark);
    const auto size = nb::cast<size_t>(cls.attr("__basicsize__"));
    offset_ = sizeof(PyObject);
    while (offset_ < size && At(made) != mark.ptr()) offset_ += sizeof mark;
    if (offset_ >= size) {
      Raise(PyExc_TypeError, std::string("no slot ") + name);
    }
  }

  // Empty where nothing was given.
  nb::object Get(nb::handle object) const { return nb::borrow(At(object)); }
  // Of an object that has none.
  void Give(nb::handle object, nb::object value) const {
    At(object) = value.release().ptr();
  }

 private:
  PyObject*& At(nb::handle object) const {
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object.ptr()) +
                                         offset_);
  }

  size_t offset_;
};

// Arrays of a Python class, which keep an Array in "_array" and where it lies in
// "_ctx".
class ArrayClass {
 public:
  explicit ArrayClass(nb::handle cls)
      : type_(reinterpret_cast<PyTypeObject*>(cls.ptr())),
        make_(reinterpret_cast<allocfunc>(PyType_GetSlot(type_, Py_tp_alloc))),
        array_(cls, New(), "_array"),
        where_(cls, New(), "_ctx") {}

  bool IsOf(nb::handle value) const { return Py_TYPE(value.ptr()) == type_; }

  nb::object ArrayOf(nb::handle value) const { return array_.Get(value); }

  // One more, where `like` lies.
  nb::object Make(mxc_ndarray* handle, nb::handle like) const {
    nb::object array = nb::cast(ArrayHandle(handle));
    nb::object made = New();
    array_.Give(made, std::move(array));
    where_.Give(made, where_.Get(like));
    return made;
  }

 private:
  nb::object New() const {
    nb::object made = nb::steal(make_(type_, 0));
    if (!made.is_valid()) throw nb::python_error();
    return made;
  }

  PyTypeObject* const type_;
  const allocfunc make_;
  const Slot array_, where_;
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

using SharedOp = std::shared_ptr<mxc_ndarray_op>;

// The operator without attributes; null where it wants some.
SharedOp OpOf(const std::string& name) {
  mxc_ndarray_op* op = nullptr;
  if (mxc_status* const status =
          mxc_ndarray_op_find(name.c_str(), nullptr, nullptr, 0, &op)) {
    mxc_status_release(status);
    return nullptr;
  }
  return {op, &mxc_ndarray_op_release};
}

// Whether the operator gives one array for one.
bool IsUnary(const std::string& name) {
  size_t outputs = 0;
  const char* json = nullptr;
  if (mxc_status* const status = mxc_ndarray_op_signature(
          name.c_str(), nullptr, nullptr, 0, 1, &json, &outputs)) {
    mxc_status_release(status);
    return false;
  }
  return outputs == 1;
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
        reflected_(reflected),
        op_(OpOf(name_)) {
    if (op_ == nullptr) Raise(PyExc_ValueError, "no operator " + name_);
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
  SharedOp op_;
};

class UnaryMethod {
 public:
  UnaryMethod(std::shared_ptr<Methods> methods, SharedOp op, nb::object general)
      : methods_(std::move(methods)),
        op_(std::move(op)),
        general_(std::move(general)) {}

  nb::object operator()(nb::handle self, const nb::args& args,
                        const nb::kwargs& kwargs) const {
    const ArrayClass& arrays = methods_->arrays;
    if (methods_->is_watched || args.size() != 0 || kwargs.size() != 0 ||
        !arrays.IsOf(self)) {
      return general_(self, *args, **kwargs);
    }
    mxc_ndarray* input = HandleOf(arrays.ArrayOf(self));
    if (input == nullptr) {
      PyErr_Clear();
      return general_(self);
    }
    TellLine();
    mxc_ndarray* result = nullptr;
    WithoutGil([&] {
      return mxc_ndarray_op_call(op_.get(), &input, 1, &result, 1,
                                 mxc_autograd_is_training());
    });
    return arrays.Make(result, self);
  }

 private:
  std::shared_ptr<Methods> methods_;
  SharedOp op_;
  nb::object general_;
};

}  // namespace

void DeclareMethods(nb::module_& m) {
  nb::class_<Methods>(
      m, "Methods",
      "Methods of a class, by which operators without attributes are called.")
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
                  "typing.Any"),
          "Calls an operator of two inputs.")
      .def(
          "unary",
          [](std::shared_ptr<Methods> methods, const std::string& name,
             nb::object general) -> nb::object {
            SharedOp op = OpOf(name);
            if (op == nullptr || !IsUnary(name)) return general;
            const std::string head =
                "def " + name +
                "(self, *args: object, **kwargs: object) -> typing.Any";
            const auto doc = nb::cast<std::string>(general.attr("__doc__"));
            return nb::cpp_function(
                UnaryMethod(std::move(methods), std::move(op),
                            std::move(general)),
                nb::is_method(), nb::name(name.c_str()), doc.c_str(),
                nb::sig(head.c_str()));
          },
          nb::arg("name"), nb::arg("general"),
          nb::sig("def unary(self, name: str, general: "
                  "collections.abc.Callable[..., object]) -> typing.Any"),
          "Calls an operator of one input and one output where nothing but the "
          "array is given, `general` else; `general` itself for others.");
}

}  // namespace mxc::python
