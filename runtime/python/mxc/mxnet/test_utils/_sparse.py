# SPDX-License-Identifier: Apache-2.0
"""Drawn sparse arrays."""

import numpy as np

from .. import ndarray as nd
from ..base import dtype_name
from ._draw import assign_each
from ._surroundings import default_dtype


def rand_sparse_ndarray(shape, stype, density=None, dtype=None, distribution=None,
                        data_init=None, rsp_indices=None, modifier_func=None,
                        shuffle_csr_indices=False, ctx=None):
    """A sparse array and its parts: (array, (data, indices)) of a "row_sparse" one,
    (array, (indptr, indices, data)) of a "csr" one.

    density: the part of rows, or of elements, that is stored; drawn by default.
    distribution (csr): "uniform", or "powerlaw", of which each row has twice the
    elements of the one before. data_init: the value of all elements, which are drawn
    from 0 to 1 by default; modifier_func(value): what becomes of each. rsp_indices:
    the rows that are stored.
    """
    density = np.random.rand() if density is None else density
    if not 0 <= density <= 1:
        raise AssertionError("density is a part of 1")
    dtype = np.dtype(dtype_name(dtype or default_dtype()))
    if stype == "row_sparse":
        if distribution not in (None, "uniform"):
            raise AssertionError(f"Distribution {distribution} not supported for "
                                 "row_sparse")
        rows = _drawn_rows(shape, density, rsp_indices)
        data = _values((len(rows), *shape[1:]), data_init, modifier_func, dtype)
        array = nd.sparse.row_sparse_array((data, rows), shape=shape, dtype=dtype,
                                           ctx=ctx)
        return array, (data, rows)
    if stype != "csr":
        raise AssertionError(f"unknown storage type {stype}")
    if len(shape) != 2:
        raise AssertionError("a csr array has two axes")
    array = _drawn_csr(shape, density, distribution, data_init, modifier_func, dtype,
                       ctx)
    if shuffle_csr_indices:
        shuffle_csr_column_indices(array)
    return array, (array.indptr, array.indices, array.data)


def _drawn_rows(shape, density, given):
    if given is not None:
        rows = np.sort(np.asarray(given, np.int64))
        if len(rows) > shape[0]:
            raise AssertionError(f"{len(rows)} of {shape[0]} rows")
        return rows
    return np.flatnonzero(np.random.rand(shape[0]) < density).astype(np.int64)


def _values(shape, init, modifier, dtype):
    values = np.random.rand(*shape) if init is None else np.full(shape, init)
    values = values.astype(dtype)
    if modifier is not None and values.size:
        values = assign_each(values, modifier).astype(dtype)
    return values


def _drawn_csr(shape, density, distribution, init, modifier, dtype, ctx):
    rows, columns = shape
    if distribution in (None, "uniform"):
        count = int(round(density * rows * columns))
        flat = np.sort(np.random.choice(rows * columns, count, replace=False))
        indptr = np.searchsorted(flat, np.arange(rows + 1) * columns)
        indices = flat % columns
    elif distribution == "powerlaw":
        counts = _powers(rows, columns, int(rows * columns * density))
        indptr = np.concatenate([[0], np.cumsum(counts)])
        indices = np.concatenate([np.arange(count) for count in counts])
    else:
        raise AssertionError(f"Distribution not supported: {distribution}")
    data = _values((len(indices),), init, modifier, dtype)
    return nd.sparse.csr_matrix((data, indices, indptr), shape=shape, dtype=dtype,
                                ctx=ctx)


def _powers(rows, columns, total):
    """How many elements each row has: 1, 2, 4 … as far as they go, 1 at least."""
    if total < rows:
        raise ValueError(f"not supported for this density: {total} elements do not give "
                         f"each of {rows} rows one")
    left, counts = total - rows, []
    for row in range(rows):
        more = min(left, min(2 ** min(row, 62), columns) - 1)
        counts.append(1 + more)
        left -= more
    return counts


def create_sparse_array(shape, stype, data_init=None, rsp_indices=None, dtype=None,
                        modifier_func=None, density=.5, shuffle_csr_indices=False):
    """The array of rand_sparse_ndarray."""
    array, _ = rand_sparse_ndarray(
        shape, stype, density=density, data_init=data_init, rsp_indices=rsp_indices,
        dtype=dtype, modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices)
    return array


def create_sparse_array_zd(shape, stype, density, data_init=None, rsp_indices=None,
                           dtype=None, modifier_func=None, shuffle_csr_indices=False):
    """The same; of a "row_sparse" array, rsp_indices alone say what is stored."""
    if stype == "row_sparse":
        density = 0.0
    return create_sparse_array(shape, stype, data_init=data_init,
                               rsp_indices=rsp_indices, dtype=dtype,
                               modifier_func=modifier_func, density=density,
                               shuffle_csr_indices=shuffle_csr_indices)


def shuffle_csr_column_indices(csr):
    """The stored elements of each row in a drawn order, which the format allows."""
    data, indices, indptr = (part.copy() for part in csr._get_parts())
    for begin, end in zip(indptr[:-1], indptr[1:]):
        order = begin + np.random.permutation(end - begin)
        data[begin:end], indices[begin:end] = data[order], indices[order]
    csr._set_parts((data, indices, indptr))
