# SPDX-License-Identifier: Apache-2.0
"""NDArray: memory with a type and a shape, whose values come when they are asked
for."""

import numpy as np

from ... import _ndarray
from ..base import MXNetError, dtype_name
from ..context import Context, current_context
from . import _arithmetic, _empty, _indexing, _shapes
from ._invoke import _invoke, call, give_results_as

_DTYPE_NP_TO_MX = {None: -1, **{np.dtype(name).type: flag for flag, name in enumerate(
    ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool",
     "int16", "uint16", "uint32", "uint64"))}}
_DTYPE_MX_TO_NP = {flag: dtype for dtype, flag in _DTYPE_NP_TO_MX.items()}
py_slice = slice
_STORAGE_TYPE_STR_TO_ID = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
_NUMPY_TYPES = {name: np.dtype(name).type
                for name in ("float32", "float64", "float16", "uint8", "int32",
                             "int8", "int64", "bool", "int16", "uint16", "uint32",
                             "uint64")}

# MXNet's numbers of storage types, as files of symbols have them.
_STORAGE_TYPE_STR_TO_ID = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}


class NDArray:
    """An array of a fixed type and shape. Operators give new arrays; slices of the
    first axis and reshape() give views, which share its memory."""

    __slots__ = ("_array", "_ctx", "__weakref__", "__dict__")
    _grad = None
    _fresh_grad = False
    # NumPy hands operators with an NDArray at the right over to it.
    __array_priority__ = 1000.0

    def __init__(self, handle, ctx=None, writable=True):
        if isinstance(handle, NDArray):
            handle = handle._array
        self._array = handle
        self._ctx = ctx or current_context()

    # ---- What it is ---------------------------------------------------------
    @property
    def shape(self):
        """Extents of its axes."""
        return self._array.shape

    @property
    def dtype(self):
        """NumPy's type of an element: numpy.float32."""
        return _NUMPY_TYPES[self._array.dtype]

    @property
    def size(self):
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def context(self):
        """Where it lies."""
        return self._ctx

    ctx = context

    @property
    def stype(self):
        """"default": dense."""
        return "default"

    @property
    def writable(self):
        """True."""
        return True

    @property
    def handle(self):
        """The array of mxc._ndarray."""
        return self._array

    @property
    def _fresh_grad(self):
        """Whether a backward call has computed its gradient since this was last
        set to False."""
        return _ndarray.is_fresh(self._array)

    @_fresh_grad.setter
    def _fresh_grad(self, fresh):
        _ndarray.set_fresh(self._array, bool(fresh))

    @property
    def T(self):
        """Its axes the other way round; itself with fewer than two."""
        return self if self.ndim < 2 else self.transpose()

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        extents = "x".join(map(str, self.shape))
        return f"\n{self.asnumpy()}\n<{type(self).__name__} {extents} @{self._ctx}>"

    __str__ = __repr__

    # ---- Values -------------------------------------------------------------
    def asnumpy(self):
        """A copy as a NumPy array. Raises what went wrong on the way to it."""
        return self._array.numpy()

    def _view_numpy(self, writes=False):
        """The elements where they lie, until an operator takes the array."""
        return self._array.memory(writes)

    def __array__(self, dtype=None, copy=None):
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype)

    def asscalar(self):
        """The one element, as NumPy's scalar."""
        if self.size != 1:
            raise ValueError(f"a number is asked for, and the array has {self.size} elements")
        return self.asnumpy().reshape(())[()]

    def item(self, *args):
        """An element as a number of Python's."""
        return self.asnumpy().item(*args)

    def tolist(self):
        """Nested lists."""
        return self.asnumpy().tolist()

    def __bool__(self):
        if self.size == 0:
            return False
        if self.size == 1:
            return bool(self.asscalar())
        raise ValueError(f"an array of {self.size} elements is neither true nor "
                         "false")

    def __float__(self):
        if self.size != 1:
            raise TypeError("only arrays of one element become a number")
        return float(self.asscalar())

    def __int__(self):
        if self.size != 1:
            raise TypeError("only arrays of one element become a number")
        return int(self.asscalar())

    def __index__(self):
        if self.size != 1 or self._array.dtype.startswith(("float", "bool")):
            raise TypeError("only whole numbers in arrays of one element can be an "
                            "index")
        return int(self.asscalar())

    def wait_to_read(self):
        """Until it has its value; raises what went wrong on the way to it."""
        self._array.wait()

    def __iter__(self):
        for row in range(self.shape[0]):
            yield self[row]

    # ---- Copies and views ---------------------------------------------------
    def _new(self, array):
        return type(self)(array, self._ctx)

    def copy(self):
        """Another array of the same values."""
        return self.copyto(self._ctx)

    def copyto(self, other):
        """Writes it into another NDArray of the same shape, or copies it to a
        context; returns the copy."""
        if isinstance(other, Context):
            made = _invoke("_copy", [self], {})
            made._ctx = other.check()
            return made
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto does not support type {type(other)}")
        if other is self:
            return other
        other._assign(self)
        return other

    def _assign(self, source):
        """Becomes `source`, of any type and the same shape."""
        if source._array.dtype != self._array.dtype:
            call("Cast", [source._array], (("dtype", self._array.dtype),),
                 [self._array])
        elif source.shape != self.shape:
            raise MXNetError(f"an array of shape {source.shape} cannot be copied to "
                             f"one of shape {self.shape}")
        else:  # an operator, which may be recorded, and part of a loop
            call("_copy", [source._array], (), [self._array])

    def as_in_context(self, context):
        """Itself, or a copy where it lies in another context."""
        return self if context == self._ctx else self.copyto(context)

    as_in_ctx = as_in_context

    def astype(self, dtype, copy=True):
        """Its values in another type; itself where `copy` is False and the type is
        its own."""
        name = dtype_name(dtype)
        if not copy and name == self._array.dtype:
            return self
        return _invoke("Cast", [self], {"dtype": name})

    def as_nd_ndarray(self):
        """Itself."""
        return self

    def as_np_ndarray(self):
        """The same memory as an mx.np array."""
        from ..numpy.multiarray import as_class, ndarray
        return as_class(self, ndarray)

    def tostype(self, stype):
        """Its values in another storage type ("csr", "row_sparse"); itself for
        "default"."""
        if stype == "default":
            return self
        from .sparse import cast_storage
        return cast_storage(self, stype)

    def reshape(self, *shape, **kwargs):
        """A view of another shape. 0 keeps an extent, -1 is what is left, -2 all
        axes that are left, -3 the product of two, -4 splits one into the two
        extents behind it; reverse=True reads the shape from the right."""
        return self._new(self._array.reshape(
            _shapes.reshaped(self.shape, *shape, **kwargs)))

    def __getstate__(self):
        from .utils import array_bytes
        return {"handle": bytearray(array_bytes(self)), "context": str(self._ctx)}

    def __setstate__(self, state):
        from .utils import array_of_bytes
        handle = state["handle"]
        name, _, number = state.get("context", "cpu(0)").rstrip(")").partition("(")
        self.__init__(array_of_bytes(handle) if handle is not None else None,
                      Context(name, int(number)))

    def to_dlpack_for_read(self):
        """A capsule over its memory, once nothing writes it."""
        return self._view_numpy().__dlpack__()

    def to_dlpack_for_write(self):
        """A capsule over its memory, once nothing uses it."""
        return self._view_numpy(writes=True).__dlpack__()

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    # ---- Elements -----------------------------------------------------------
    def __getitem__(self, key):
        return _indexing.get(self, key)

    def __setitem__(self, key, value):
        _indexing.set(self, key, value)

    def slice_assign(self, rhs, begin, end, step):
        """Writes an array to a part of it, and returns it."""
        return _invoke("_slice_assign", [self, rhs],
                       {"begin": begin, "end": end, "step": step}, self)

    def slice_assign_scalar(self, value, begin, end, step):
        """Writes a number to a part of it, and returns it."""
        return _invoke("_slice_assign_scalar", [self],
                       {"scalar": value, "begin": begin, "end": end, "step": step},
                       self)

    @staticmethod
    def _basic_indexing_slice_is_contiguous(slc_key, shape):
        """Whether slices, one for each axis, choose elements that lie together."""
        return _indexing.is_contiguous(slc_key, shape)

    def _at(self, index):
        """A view of one row."""
        return _indexing.get(self, index)

    def _slice(self, start, stop):
        """A view of rows from `start` to before `stop`."""
        return _indexing.get(self, slice(start, stop))

    # ---- Gradients ----------------------------------------------------------
    @property
    def grad(self):
        """The array of its gradient; None before attach_grad()."""
        return self._grad

    def attach_grad(self, grad_req="write", stype=None):
        """Makes it a variable whose gradient is written, added ("add") or not
        computed ("null"); the gradient begins as zeros."""
        from .. import autograd
        if stype in (None, "default"):
            gradient = NDArray(_empty.zeros(self.shape, self._array.dtype), self._ctx)
        else:
            from .sparse import zeros
            gradient = zeros(stype, self.shape, self._ctx, self._array.dtype)
        autograd.mark_variables([self], [gradient], grad_req)

    def drop_grad(self):
        """Makes it a constant."""
        self._array, self._grad = self._array.reshape(list(self.shape)), None

    def detach(self):
        """The same values as a constant."""
        from .. import autograd
        with autograd.pause():
            return self._new(self._array.reshape(list(self.shape)))

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Computes the gradients of all variables that it depends on."""
        if not isinstance(self._array, _empty.EmptyArray):
            given = None if out_grad is None else head_gradient(self, out_grad)
            _ndarray.backward([self._array], [given], bool(retain_graph),
                              bool(train_mode))

    # ---- Operators ----------------------------------------------------------
    __hash__ = object.__hash__


def head_gradient(head, grad):
    """The gradient of a head, of as many rows as it has: MXNet reads no more."""
    given, own = grad.shape, head.shape
    if own and given[1:] == own[1:] and given[0] > own[0]:
        return grad[:own[0]]._array
    return grad._array


_arithmetic.install(NDArray)
give_results_as(NDArray)
