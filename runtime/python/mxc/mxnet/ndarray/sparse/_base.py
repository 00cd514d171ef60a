# SPDX-License-Identifier: Apache-2.0
"""What all sparse arrays share.

A sparse array is kept in one of two ways. Made by a user or a kernel for sparse
arrays, it is its parts: NumPy's arrays of stored values and of where they belong. Once
an operator needs it as a dense array that may be written or differentiated, it is that
dense array (`_array`), and its parts are read off it when they are asked for."""

import numpy as np

from ...base import MXNetError, dtype_name
from ...context import Context, current_context
from .. import _empty
from .._invoke import is_recording, sparse_arrays_exist
from .._shapes import as_shape
from ..ndarray import _NUMPY_TYPES, NDArray


class NotSupportedForSparseNDArray(MXNetError):
    """A method that only dense arrays have."""

    def __init__(self, function, alias, *args):
        name = getattr(function, "__name__", str(function))
        given = ", ".join(type(arg).__name__ for arg in args)
        super().__init__(f"{name}({given}){f', operator {alias},' if alias else ''} takes "
                         "dense arrays alone; a.tostype('default') makes one of a sparse a")


class BaseSparseNDArray(NDArray):
    """An array of which only some elements are stored; the others are 0.

    Subclasses say how: `_stype`, `_from_dense` (parts of a dense array) and
    `_to_dense` (the reverse). Parts are NumPy's arrays: data, then the auxiliary ones.
    """

    _stype = None
    _aux_names = ()

    def __init__(self, handle, ctx=None, writable=True):
        self._ctx = ctx or current_context()
        if isinstance(handle, NDArray):
            handle = handle._array
        self._array = handle

    @classmethod
    def _of_parts(cls, parts, shape, ctx=None):
        """The array of (data, *auxiliary) and its whole shape."""
        made = cls.__new__(cls)
        made._ctx = (ctx or current_context()).check()
        made._dense = made._pattern = None
        made._parts = tuple(parts)
        made._shape, made._dtype = as_shape(shape), made._parts[0].dtype.name
        sparse_arrays_exist()
        return made

    @classmethod
    def _zeros(cls, shape, ctx=None, dtype=None):
        """Nothing is stored."""
        shape = as_shape(shape)
        return cls._of_parts(cls._no_parts(shape, dtype_name(dtype)), shape, ctx)

    # ---- The two ways in which it is kept -------------------------------------
    @property
    def _array(self):
        """The dense array that it is from here on: it may be written."""
        if self._dense is None:
            self._dense = _empty.from_numpy(self._to_dense(self._parts))
            self._parts = None
        return self._dense

    @_array.setter
    def _array(self, handle):
        self._dense, self._parts, self._pattern = handle, None, None
        self._shape, self._dtype = tuple(handle.shape), handle.dtype
        sparse_arrays_exist()

    def _is_parts(self):
        """Whether its parts are what is kept: no gradient flows through it."""
        return self._dense is None

    def _reading(self):
        """A dense array of its values, which is only read."""
        if self._dense is not None:
            return self._dense
        return _empty.from_numpy(self._to_dense(self._parts))

    def _get_parts(self):
        """(data, *auxiliary), read off the dense array where it is that."""
        if self._dense is None:
            return self._parts
        # _from_dense copies what it takes.
        return self._from_dense(self._dense.memory(), self._pattern)

    def _set_parts(self, parts):
        """Takes parts of its own shape and type."""
        if self._dense is not None:
            self._dense.write(self._to_dense(parts))
            self._pattern = self._pattern_of(parts)
        else:
            self._parts = tuple(parts)

    def _become(self, source):
        """Takes the values of another array of the same shape, of any type."""
        if tuple(source.shape) != self.shape:
            raise MXNetError(f"an array of shape {tuple(source.shape)} cannot be copied "
                             f"to one of shape {self.shape}")
        same = isinstance(source, type(self))
        if self._dense is not None:
            values = source.asnumpy().astype(self._dtype)
            if self._dense is not getattr(source, "_dense", None):
                self._dense.write(values)
            self._pattern = self._pattern_of(source._get_parts()) if same else None
            return
        parts = source._get_parts() if same else self._from_dense(source.asnumpy())
        self._parts = (parts[0].astype(self._dtype), *(part.copy() for part in parts[1:]))

    _assign = _become

    # ---- What it is -----------------------------------------------------------
    @property
    def shape(self):
        """Extents of its axes, stored or not."""
        return self._shape

    @property
    def dtype(self):
        """NumPy's type of an element."""
        return _NUMPY_TYPES[self._dtype]

    @property
    def size(self):
        """Refused: what is stored may be smaller."""
        raise NotImplementedError(f"{type(self).__name__} has no size")

    @property
    def stype(self):
        """"csr" or "row_sparse"."""
        return self._stype

    @property
    def data(self):
        """A copy of the values that are stored."""
        return self._part(0)

    @property
    def indices(self):
        """Where they belong: columns ("csr") or rows ("row_sparse"), int64."""
        return self._part(1)

    @property
    def _num_aux(self):
        return len(self._aux_names)

    @property
    def _aux_types(self):
        return [part.dtype.type for part in self._get_parts()[1:]]

    def _part(self, index):
        part = np.ascontiguousarray(self._get_parts()[index])
        return NDArray(_empty.from_numpy(part.copy()), self._ctx)

    def _data(self):
        return self.data

    def _aux_data(self, i):
        """The i-th auxiliary array, as the file format orders them."""
        return getattr(self, self._aux_names[i])

    def __repr__(self):
        extents = "x".join(map(str, self.shape))
        return f"\n<{type(self).__name__} {extents} @{self._ctx}>"

    __str__ = __repr__

    # ---- Values ---------------------------------------------------------------
    def asnumpy(self):
        """All elements as a dense array of NumPy."""
        if self._dense is not None:
            return self._dense.numpy()
        return self._to_dense(self._parts)

    def _view_numpy(self, writes=False):
        if writes or self._dense is not None:
            return self._array.memory(writes)
        return self.asnumpy()

    def wait_to_read(self):
        """Until it has its value; raises what went wrong on the way to it."""
        if self._dense is not None:
            self._dense.wait()

    def asscalar(self):
        """Refused: see size."""
        raise NotImplementedError(f"{type(self).__name__} has no asscalar")

    def __bool__(self):
        raise ValueError("a sparse array is neither true nor false; ask for "
                         "(a.asnumpy() != 0).any() or .all()")

    def __iter__(self):
        for row in range(self.shape[0]):
            yield self[row]

    # ---- Copies ---------------------------------------------------------------
    def _like(self, parts):
        return type(self)._of_parts(parts, self.shape, self._ctx)

    def copy(self):
        """Another array of the same values."""
        return self._like(tuple(part.copy() for part in self._get_parts()))

    def copyto(self, other):
        """Writes it into another array of the same shape and any storage type, or
        copies it to a context; returns the copy."""
        if isinstance(other, Context):
            made = self.copy()
            made._ctx = other.check()
            return made
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto does not support type {type(other)}")
        if other is not self:
            other._assign(self if isinstance(other, BaseSparseNDArray) else
                          self._as_dense())
        return other

    def _as_dense(self):
        return NDArray(self._reading(), self._ctx)

    def astype(self, dtype, copy=True):
        """Its values in another type; itself where `copy` is False and the type is
        its own."""
        name = dtype_name(dtype)
        if not copy and name == self._dtype:
            return self
        data, *rest = self._get_parts()
        return self._like((data.astype(name), *rest))

    def detach(self):
        """The same values as a constant."""
        if self._dense is None:
            return self._like(self._parts)
        return super().detach()

    def tostype(self, stype):
        """Its values in another storage type, a new array."""
        from ._functions import cast_storage
        return cast_storage(self, stype)

    def todense(self):
        """tostype("default")."""
        return self.tostype("default")

    def attach_grad(self, grad_req="write", stype=None):
        """As NDArray's; the gradient has the array's storage type, unless `stype`
        says another."""
        super().attach_grad(grad_req, stype or self._stype)

    def __reduce__(self):
        return _empty_array, (type(self),), self.__getstate__()

    def __setstate__(self, state):
        from ..utils import array_of_bytes
        found = array_of_bytes(state["handle"])
        self.__dict__.update(found.__dict__)
        name, _, number = state.get("context", "cpu(0)").rstrip(")").partition("(")
        self._ctx = Context(name, int(number))

    # ---- What only dense arrays have ------------------------------------------
    def reshape(self, *shape, **kwargs):
        """Refused."""
        raise NotSupportedForSparseNDArray(self.reshape, None, shape)

    def _slice(self, start, stop):
        raise NotSupportedForSparseNDArray(self._slice, None, start, stop)

    def _at(self, idx):
        raise NotSupportedForSparseNDArray(self._at, None, idx)

    def check_format(self, full_check=True):
        """MXNetError where indices are out of order or range."""
        problem = self._problem(self._get_parts())
        if problem:
            raise MXNetError(f"{type(self).__name__}: {problem}")

    def _set_all(self, value, what):
        """array[:] = an array or NumPy's array."""
        if is_recording():
            raise MXNetError("Inplace operations (+=, -=, x[:]=, etc) are not "
                             "supported when recording with autograd.")
        if isinstance(value, NDArray):
            if value is not self:
                value.copyto(self)
        elif isinstance(value, (np.ndarray, np.generic, list, tuple)):
            self._become(np_array(np.asarray(value), self))
        else:
            raise TypeError(f"{what} cannot be set to a {type(value).__name__}")


def np_array(values, like):
    """A dense NDArray of NumPy's values, broadcast, of another's shape and type."""
    whole = np.ascontiguousarray(np.broadcast_to(values, like.shape), like.dtype)
    return NDArray(_empty.from_numpy(whole), like._ctx)


def _empty_array(cls):
    return cls.__new__(cls)
