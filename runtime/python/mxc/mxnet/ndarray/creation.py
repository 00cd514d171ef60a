# SPDX-License-Identifier: Apache-2.0
"""New arrays."""

import numpy as np

from ..base import MXNetError, dtype_name
from ..context import current_context
from ..util import is_np_shape
from . import _empty
from ._invoke import watched
from ._shapes import as_shape
from .ndarray import NDArray

__all__ = ["array", "empty", "zeros", "ones", "full", "arange", "linspace", "eye"]


def _made(values, ctx, dtype):
    where = (ctx or current_context()).check()
    values = np.asarray(values)
    with np.errstate(all="ignore"):
        dense = np.ascontiguousarray(values, dtype=dtype_name(dtype))
    return NDArray(_empty.from_numpy(dense.reshape(values.shape)), where)


def _is_sparse(source):
    return (getattr(source, "stype", "default") != "default"
            or type(source).__module__.startswith("scipy.sparse"))


def array(source_array, ctx=None, dtype=None):
    """An array of the values of a list, a NumPy array or an NDArray. dtype: that of
    an NDArray, else float32, unless it is given."""
    if _is_sparse(source_array):
        from .sparse import array as sparse_array
        return sparse_array(source_array, ctx, dtype)
    if isinstance(source_array, NDArray):
        dtype = source_array.dtype if dtype is None else dtype
        source_array = source_array.asnumpy()
    elif not isinstance(source_array, np.ndarray):
        try:
            source_array = np.array(source_array, dtype=dtype_name(dtype))
        except (TypeError, ValueError):
            raise TypeError("source_array must be array like object") from None
    return _made(source_array, ctx, dtype)


def _require_elements(shape):
    """MXNetError for a shape whose 0 stands for an unknown extent, and for that of a
    number, unless mx.np_shape says that they are what NumPy means."""
    if not is_np_shape() and (shape == () or 0 in shape):
        raise MXNetError(f"an array of shape {shape} has an unknown shape, unless "
                         "mx.util.np_shape() is on")


def empty(shape, ctx=None, dtype=None, stype=None):
    """Zeros."""
    if stype not in (None, "default"):
        return zeros(shape, ctx, dtype, stype)
    where = (ctx or current_context()).check()
    return NDArray(_empty.zeros(as_shape(shape), dtype_name(dtype)), where)


def zeros(shape, ctx=None, dtype=None, stype=None, out=None, **kwargs):
    """Zeros; `out`: an array that becomes them."""
    if stype not in (None, "default"):
        from .sparse import zeros as sparse_zeros
        return sparse_zeros(stype, shape, ctx, dtype)
    if out is not None:
        out[:] = 0
        return out
    _require_elements(as_shape(shape))
    made = empty(shape, ctx, dtype)
    watched("_zeros", made._array)
    return made


def ones(shape, ctx=None, dtype=None, out=None, **kwargs):
    """Ones; `out`: an array that becomes them."""
    if out is None:
        _require_elements(as_shape(shape))
    made = full(shape, 1, ctx, dtype, out)
    watched("_ones", made._array)
    return made


def full(shape, val, ctx=None, dtype=np.float32, out=None):
    """An array of one value; `out`: an array that becomes it."""
    if out is not None:
        out[:] = val
        return out
    return _made(np.full(as_shape(shape), val, dtype_name(dtype)), ctx, dtype)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=None, ctx=None,
           dtype=np.float32):
    """Numbers from `start` to before `stop` (from 0, where there is none), each
    `repeat` times."""
    if stop is None:
        start, stop = 0, start
    if np.dtype(dtype_name(dtype)).kind in "iu":
        # Counted in the type itself.
        count = int(np.ceil((stop - start) / step))
        values = int(start) + int(step) * np.arange(count)
    else:
        values = np.arange(start, stop, step, dtype=np.float64)
    return _made(np.repeat(values, repeat), ctx, dtype)


def linspace(start, stop, num, endpoint=True, ctx=None, dtype=np.float32):
    """`num` numbers from `start` to `stop`, or to before it."""
    return _made(np.linspace(start, stop, num, endpoint), ctx, dtype)


def eye(N, M=0, k=0, ctx=None, dtype=None, **kwargs):
    """Ones on the k-th diagonal of N rows and M (or N) columns, else zeros."""
    return _made(np.eye(N, M or N, k), ctx, dtype)
