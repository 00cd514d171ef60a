# SPDX-License-Identifier: Apache-2.0
"""Products of csr matrices with dense ones, with their gradients."""

import numpy as np

from .... import _ndarray
from .. import _empty
from .._invoke import is_recording
from ..ndarray import NDArray
from ._csr import rows_of

# Elements of the products that are summed up at a time.
_AT_ONCE = 1 << 22


def _summed(rows, columns, data, right, count):
    """sum over the stored of data * right[column], for each of `count` rows; the rows
    are sorted."""
    width = int(np.prod(right.shape[1:], dtype=np.int64))
    flat = right.reshape(right.shape[0], width)
    result = np.zeros((count, width), np.result_type(data, right))
    step = max(1, _AT_ONCE // max(1, width))
    for begin in range(0, len(data), step):
        part = slice(begin, begin + step)
        terms = data[part, None] * flat[columns[part]]
        starts = np.flatnonzero(np.diff(rows[part], prepend=-1))
        result[rows[part][starts]] += np.add.reduceat(terms, starts, axis=0)
    return result.reshape(count, *right.shape[1:])


def multiply(parts, shape, right, transposed):
    """NumPy's product of a csr matrix (its parts and shape), or of its transpose, with
    a dense array."""
    data, indices, indptr = parts
    rows = rows_of(indptr)
    if not transposed:
        return _summed(rows, indices, data, right, shape[0])
    order = np.argsort(indices, kind="stable")
    return _summed(indices[order], rows[order], data[order], right, shape[1])


def dot(left, right, transposed):
    """The product with a dense or row_sparse array of two axes or one, as a dense
    array; recorded where autograd records. None where shapes do not fit."""
    shape, parts = left.shape, left._get_parts()
    if right.shape[0] != shape[0 if transposed else 1]:
        return None
    values = multiply(parts, shape, right._view_numpy(), transposed)
    made = NDArray(_empty.from_numpy(np.ascontiguousarray(values)), left._ctx)
    if is_recording() and not (right.stype != "default" and right._is_parts()):
        def gradient(heads):
            slope = multiply(parts, shape, heads[0].numpy(), not transposed)
            return [_ndarray.from_numpy(np.ascontiguousarray(slope.astype(
                right._array.dtype)))]
        _ndarray.record_function([right._array], [made._array], gradient)
    return made
