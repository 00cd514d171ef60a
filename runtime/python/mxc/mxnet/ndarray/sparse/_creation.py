# SPDX-License-Identifier: Apache-2.0
"""New sparse arrays."""

import numpy as np

from ...base import dtype_name
from ..ndarray import NDArray
from ._base import BaseSparseNDArray
from ._csr import CSRNDArray, pointers
from ._row_sparse import RowSparseNDArray

CLASSES = {"csr": CSRNDArray, "row_sparse": RowSparseNDArray}


def _values(source, dtype=None):
    """NumPy's array of a list or of any array. dtype: its own, else float32."""
    if isinstance(source, NDArray):
        source = source.asnumpy()
    if not isinstance(source, np.ndarray):
        source = np.asarray(source, dtype_name(dtype))
    return source if dtype is None else source.astype(dtype_name(dtype))


def _positions(source):
    return np.asarray(_values(source, "int64")).reshape(-1)


def _is_scipy(source):
    return type(source).__module__.startswith("scipy.sparse")


def _is_shape(arg):
    return all(isinstance(extent, (int, np.integer)) for extent in arg)


def _check_shape(given, own):
    """ValueError where a shape is given beside another."""
    if given is not None and tuple(given) != tuple(own):
        raise ValueError(f"the shape {tuple(given)} is given for one of {tuple(own)}")


def _cast(array, shape, ctx, dtype):
    """A copy of a sparse array."""
    _check_shape(shape, array.shape)
    made = array.copy() if dtype is None else array.astype(dtype)
    return made if ctx is None else made.copyto(ctx)


def _of_dense(cls, source, shape, ctx, dtype):
    values = _values(source, dtype)
    _check_shape(shape, values.shape)
    if cls is CSRNDArray and values.ndim != 2:
        raise ValueError(f"a csr array has two axes, not {values.ndim}")
    return cls._of_parts(cls._from_dense(values), values.shape, ctx)


def csr_matrix(arg1, shape=None, ctx=None, dtype=None):
    """A CSRNDArray of

    - a shape (rows, columns): nothing is stored;
    - (data, indices, indptr), or (data, (rows, columns)), where equal places add up;
    - a CSRNDArray, a matrix of scipy.sparse, or a dense array or list.

    shape: of the whole matrix; by default as small as the indices allow. dtype: that
    of arrays, else float32. Raises ValueError for what does not fit.
    """
    if isinstance(arg1, tuple):
        if len(arg1) == 2 and not _is_shape(arg1):
            return _of_coordinates(*arg1, shape, ctx, dtype)
        if len(arg1) == 2:
            _check_shape(shape, arg1)
            return CSRNDArray._zeros(arg1, ctx, dtype)
        if len(arg1) == 3:
            return _of_csr(*arg1, shape, ctx, dtype)
        raise ValueError(f"Unexpected length of input tuple: {len(arg1)}")
    if isinstance(arg1, CSRNDArray):
        return _cast(arg1, shape, ctx, dtype)
    if isinstance(arg1, BaseSparseNDArray):
        raise ValueError(f"Unexpected input type: {type(arg1).__name__}")
    if _is_scipy(arg1):
        matrix = arg1.tocsr().copy()
        matrix.sum_duplicates()
        matrix.sort_indices()
        _check_shape(shape, matrix.shape)
        return _of_csr(matrix.data, matrix.indices, matrix.indptr, matrix.shape, ctx,
                       dtype or matrix.dtype)
    return _of_dense(CSRNDArray, arg1, shape, ctx, dtype)


def _of_csr(data, indices, indptr, shape, ctx, dtype):
    data, indices, indptr = _values(data, dtype), _positions(indices), _positions(indptr)
    if data.ndim != 1 or len(indptr) == 0:
        raise ValueError("data, indices and indptr have one axis each")
    if shape is None:
        if len(indices) == 0:
            raise ValueError("the shape of a matrix without indices must be given")
        shape = (len(indptr) - 1, int(indices.max()) + 1)
    if len(shape) != 2:
        raise ValueError(f"a csr array has two axes, not those of {tuple(shape)}")
    return CSRNDArray._of_parts((data, indices, indptr), shape, ctx)


def _of_coordinates(data, places, shape, ctx, dtype):
    rows, columns = (_positions(part) for part in places)
    data = _values(data, dtype)
    if shape is None:
        if len(rows) == 0:
            raise ValueError("the shape of a matrix without indices must be given")
        shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    if len(rows) and not (0 <= rows.min() and rows.max() < shape[0]
                          and 0 <= columns.min() and columns.max() < shape[1]):
        raise ValueError(f"a place is outside of the shape {tuple(shape)}")
    flat, where = np.unique(rows * int(shape[1]) + columns, return_inverse=True)
    total = np.zeros(len(flat), data.dtype)
    np.add.at(total, where.reshape(-1), data)
    return CSRNDArray._of_parts((total, flat % int(shape[1]),
                                 pointers(flat // int(shape[1]), int(shape[0]))),
                                shape, ctx)


def row_sparse_array(arg1, shape=None, ctx=None, dtype=None):
    """A RowSparseNDArray of

    - a shape: nothing is stored;
    - (data, indices): rows and where they belong, in any order;
    - a RowSparseNDArray, or a dense array or list.

    shape: of the whole array; by default as small as the indices allow. dtype: that of
    arrays, else float32. Raises ValueError for what does not fit.
    """
    if isinstance(arg1, tuple):
        if _is_shape(arg1):
            _check_shape(shape, arg1)
            return RowSparseNDArray._zeros(arg1, ctx, dtype)
        if len(arg1) != 2:
            raise ValueError(f"Unexpected length of input tuple: {len(arg1)}")
        return _of_rows(*arg1, shape, ctx, dtype)
    if isinstance(arg1, RowSparseNDArray):
        return _cast(arg1, shape, ctx, dtype)
    if isinstance(arg1, BaseSparseNDArray):
        raise ValueError(f"Unexpected input type: {type(arg1).__name__}")
    return _of_dense(RowSparseNDArray, arg1, shape, ctx, dtype)


def _of_rows(data, indices, shape, ctx, dtype):
    data, indices = _values(data, dtype), _positions(indices)
    if shape is None:
        if len(indices) == 0:
            raise ValueError("the shape of an array without indices must be given")
        shape = (int(indices.max()) + 1, *data.shape[1:])
    if tuple(data.shape[1:]) != tuple(shape[1:]):
        raise ValueError(f"rows of shape {data.shape[1:]} are given for the shape "
                         f"{tuple(shape)}")
    return RowSparseNDArray._of_parts((data, indices), shape, ctx)


def zeros(stype, shape, ctx=None, dtype=None, **kwargs):
    """Zeros of a storage type: "csr", "row_sparse" or "default"."""
    if stype == "default":
        from ..creation import empty as dense
        return dense(shape, ctx, dtype)
    if stype not in CLASSES:
        raise ValueError(f"unknown storage type {stype}")
    return CLASSES[stype]._zeros(shape, ctx, dtype)


def empty(stype, shape, ctx=None, dtype=None):
    """zeros()."""
    return zeros(stype, shape, ctx, dtype)


def array(source_array, ctx=None, dtype=None):
    """A copy of a sparse array, or of a matrix of scipy.sparse."""
    if isinstance(source_array, NDArray) and source_array.stype == "default":
        raise TypeError("a dense array was given, where a sparse one is expected: "
                        "a.tostype('csr') or a.tostype('row_sparse') makes one")
    if isinstance(source_array, RowSparseNDArray):
        return row_sparse_array(source_array, ctx=ctx, dtype=dtype)
    if isinstance(source_array, CSRNDArray) or _is_scipy(source_array):
        return csr_matrix(source_array, ctx=ctx, dtype=dtype)
    raise ValueError(f"Unexpected source_array type: {type(source_array)}")
