# SPDX-License-Identifier: Apache-2.0
"""mx.np.ndarray: an array with NumPy's names, shapes of rank 0 and arrays without
elements."""

import numpy as onp

from .._numpy import _functions
from .._numpy._call import call, is_empty, view
from .._numpy._elementwise import binary, cast
from ..base import dtype_name
from ..ndarray import NDArray, _empty
from . import _indexing, _protocols

_functions_of = _functions.SHARED


class ndarray(NDArray):
    """An array of mx.np. What operators give of it is one, too; slices of the first axis
    and reshape() give views, which share its memory."""

    __slots__ = ()
    __hash__ = NDArray.__hash__

    @property
    def dtype(self):
        """NumPy's dtype."""
        return onp.dtype(self._array.dtype)

    # ---- Text ---------------------------------------------------------------
    def __repr__(self):
        text = repr(self.asnumpy())
        if self.dtype == onp.float32:
            text = text.replace(", dtype=float32", "")
        elif self.dtype == onp.float64:
            text = text[:-1] + ", dtype=float64)"
        return text

    def __str__(self):
        return str(self.asnumpy())

    def __format__(self, spec):
        return format(self.item() if self.ndim == 0 else str(self) if not spec else
                      self.asnumpy(), spec)

    # ---- As other arrays ----------------------------------------------------

    def as_np_ndarray(self):
        """Itself."""
        return self

    def as_nd_ndarray(self):
        """The same memory as an mx.nd array."""
        return as_class(self, NDArray)

    def attach_grad(self, grad_req="write"):
        """Makes it a variable whose gradient is written, added ("add") or not computed
        ("null"); the gradient begins as zeros."""
        from .. import autograd
        gradient = self._new(_empty.zeros(self.shape, self._array.dtype))
        if is_empty(self):
            self._grad = gradient
        else:
            autograd.mark_variables([self], [gradient], grad_req)

    def detach(self):
        """The same values as a constant."""
        if is_empty(self):
            return self._new(self._array)
        return super().detach()

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Computes the gradients of all variables that it depends on."""
        if not is_empty(self):
            super().backward(out_grad, retain_graph, train_mode)

    # ---- Shapes and types ---------------------------------------------------
    def reshape(self, *shape, order="C", **kwargs):
        """The same memory in another shape, of which one extent may be -1."""
        shape = kwargs.pop("newshape", kwargs.pop("shape", shape))
        if order != "C" or kwargs:
            raise NotImplementedError("reshape takes a shape, and order is 'C'")
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        return _view(self, tuple(int(extent) for extent in shape))

    def reshape_view(self, *shape, **kwargs):
        """The same memory in a shape of npx.reshape's codes."""
        from ..numpy_extension._shapes import reshape
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return reshape(self, shape, **kwargs)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """Its values in another type; itself where `copy` is False and the type is its
        own."""
        if (order, casting, subok) != ("K", "unsafe", True):
            raise NotImplementedError("astype takes no order, casting or subok but NumPy's "
                                      "defaults")
        name = "float32" if dtype is None else dtype_name(dtype)
        if not copy and name == self._array.dtype:
            return self
        if is_empty(self):
            return self._new(_empty.zeros(self.shape, name))
        return call("_npi_cast", [self], {"dtype": name})

    def copy(self, order="C"):
        """Another array of the same values."""
        if order != "C":
            raise NotImplementedError(f"arrays lie in order C, not {order!r}")
        if is_empty(self):
            return self._new(_empty.zeros(self.shape, self._array.dtype))
        return call("_np_copy", [self])

    def flatten(self, order="C"):
        """A copy along one axis."""
        return _functions_of["ravel"](self.copy(order))

    def transpose(self, *axes):
        """Its axes in another order; without one, the other way round."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = axes[0]
        return _functions_of["transpose"](self, axes or None)

    @property
    def T(self):
        """Its axes the other way round."""
        return self.transpose()

    def tolist(self):
        """Nested lists, or a number of an array without axes."""
        return self.asnumpy().tolist()

    def nonzero(self):
        """np.nonzero of it."""
        return _functions_of["nonzero"](self)

    # ---- Elements -----------------------------------------------------------
    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[row] for row in range(self.shape[0]))

    def __getitem__(self, key):
        return _indexing.get(self, key)

    def __setitem__(self, key, value):
        _indexing.set(self, key, value)

    # ---- NumPy's functions of it --------------------------------------------
    def __array_function__(self, func, types, args, kwargs):
        return _protocols.function(func, args, kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return _protocols.ufunc(ufunc, method, inputs, kwargs)

    def __invert__(self):
        return _functions_of["bitwise_not"](self)

    def __neg__(self):
        return _functions_of["negative"](self)

    def __pos__(self):
        return self

    def __abs__(self):
        return _functions_of["absolute"](self)

    def __matmul__(self, other):
        return _functions_of["matmul"](self, other)

    def __rmatmul__(self, other):
        return _functions_of["matmul"](other, self)


def as_class(array, cls):
    """The same memory, and gradient, as another class of arrays."""
    if type(array) is cls:
        return array
    other = cls(array._array, array._ctx)
    if array._grad is not None:
        other._grad = as_class(array._grad, cls)
        other._grad_req = array._grad_req
    return other


def _view(array, shape):
    if not array.size:
        return array._new(array._array.reshape(shape))
    return view(array, _completed(array.size, array.shape, shape))


def _completed(size, old, shape):
    extents = list(shape)
    known = -int(onp.prod(extents, dtype=onp.int64))
    if extents.count(-1) == 1 and known > 0 and size % known == 0:
        extents[extents.index(-1)] = size // known
    if any(extent < 0 for extent in extents) or onp.prod(extents,
                                                         dtype=onp.int64) != size:
        from ..ndarray._shapes import ShapeError
        raise ShapeError(f"an array of shape {old} cannot be reshaped to {shape}")
    return extents


_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
           "mod": "mod", "pow": "power", "and": "bitwise_and", "or": "bitwise_or",
           "xor": "bitwise_xor"}
_COMPARISONS = {"eq": "equal", "ne": "not_equal", "gt": "greater",
                "ge": "greater_equal", "lt": "less", "le": "less_equal"}
_METHODS = """all any argmax argmin argsort clip cumsum diagonal dot expand_dims max mean
min prod ravel repeat round sort split squeeze std sum swapaxes take tile trace var
broadcast_to flip diag sign abs sqrt square exp log""".split()


def _operator(name, swapped=False, in_place=False):
    def method(self, other):
        if in_place:
            if isinstance(other, NDArray):
                other = cast(other, self._array.dtype)
            return binary(name, self, other, out=self)
        return binary(name, other, self) if swapped else binary(name, self, other)
    return method


def _comparison(name):
    def method(self, other):
        if not isinstance(other, (NDArray, onp.ndarray, onp.generic, int, float)):
            return NotImplemented
        return binary(name, self, other)
    return method


def _method(name):
    function = _functions_of[name]

    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"np.{name} of it."
    return method


for _short, _long in _BINARY.items():
    setattr(ndarray, f"__{_short}__", _operator(_long))
    setattr(ndarray, f"__r{_short}__", _operator(_long, swapped=True))
    setattr(ndarray, f"__i{_short}__", _operator(_long, in_place=True))
for _short, _long in _COMPARISONS.items():
    setattr(ndarray, f"__{_short}__", _comparison(_long))
for _name in _METHODS:
    setattr(ndarray, _name, _method(_name))
