# SPDX-License-Identifier: Apache-2.0
"""Operators over the parts of sparse arrays, which are constants.

A kernel takes (inputs, attrs) and returns an array, or None where it cannot."""

import numpy as np

from .. import _empty
from .._invoke import invoke_dense, is_recording
from ..ndarray import NDArray
from . import _products, _storage
from ._csr import CSRNDArray, pointers, rows_of
from ._row_sparse import RowSparseNDArray

_KERNELS = {}
_RECORDED, _OF_CONSTANTS = set(), set()


def kernel(*names, records=False, of_constants=False):
    """Registers a kernel for operators. One that records itself wants the parts of its
    first input alone; gradients flow to the others. One of constants is asked for any
    inputs while nothing is recorded: it reads less of them than the operator would."""
    def register(function):
        for name in map(_storage.first_name, names):
            _KERNELS[name] = function
            if records:
                _RECORDED.add(name)
            if of_constants:
                _OF_CONSTANTS.add(name)
        return function
    return register


def takes(op, inputs):
    """Whether a kernel may be asked: sparse inputs are kept as their parts."""
    op = _storage.first_name(op)
    if op in _OF_CONSTANTS and not is_recording():
        return True
    if op in _RECORDED:
        inputs = inputs[:1]
    return all(array._is_parts() for array in inputs if array.stype != "default")


def call(op, inputs, attrs):
    """What a kernel gives, or None."""
    stype = inputs[0].stype
    if stype != "default" and _storage.keeps_pattern(op, attrs, stype):
        return _on_data(op, inputs[0], attrs)
    found = _KERNELS.get(_storage.first_name(op))
    return found and found(inputs, attrs)


def pattern(op, inputs, attrs, stype):
    """What a dense result stores at least, of the inputs' parts; None: nothing."""
    first = inputs[0]
    if first.stype == stype and _storage.keeps_pattern(op, attrs, stype):
        return first._pattern_of(first._get_parts())
    return None


def dense_array(values, like):
    """A dense NDArray of NumPy's values."""
    values = np.asarray(values)
    if values.ndim == 0:
        values = values.reshape(1)
    return NDArray(_empty.from_numpy(np.ascontiguousarray(values)), like._ctx)


def _on_data(op, array, attrs):
    """A function of single elements, of those that are stored."""
    if _storage.first_name(op) == "zeros_like":
        return type(array)._zeros(array.shape, array._ctx, array._dtype)
    data, *rest = array._get_parts()
    if data.size:
        values = dense_array(data, array)
        result = invoke_dense(op, [values], attrs)
        result = result[0] if isinstance(result, list) else result
        data = result.asnumpy().reshape(data.shape)
    return array._like((data, *(part.copy() for part in rest)))


@kernel("cast_storage")
def _cast_storage(inputs, attrs):
    source, stype = inputs[0], attrs["stype"]
    if stype == source.stype:
        return source.copy()
    return source._as_dense() if stype == "default" else None


@kernel("_sparse_retain", of_constants=True)
def _retain(inputs, attrs):
    source, wanted = inputs
    if source.stype != "row_sparse":
        return None
    data, rows = source._get_parts()
    kept = np.isin(rows, wanted.asnumpy().astype(np.int64))
    return source._like((data[kept], rows[kept]))


@kernel("slice")
def _slice(inputs, attrs):
    (source,) = inputs
    if _storage.infer("slice", [source.stype], attrs) != "csr":
        return None
    ranges = []
    begins = _storage.whole_numbers(attrs, "begin") or ()
    ends = _storage.whole_numbers(attrs, "end") or ()
    for axis, extent in enumerate(source.shape):
        cut = slice(begins[axis] if axis < len(begins) else None,
                    ends[axis] if axis < len(ends) else None)
        ranges.append(cut.indices(extent)[:2])
    (top, bottom), (left, right) = ranges
    if top >= bottom or left >= right:
        return None
    data, indices, indptr = source._get_parts()
    part = slice(indptr[top], indptr[bottom])
    data, indices = data[part], indices[part]
    rows = rows_of(indptr[top:bottom + 1])
    kept = (indices >= left) & (indices < right)
    return CSRNDArray._of_parts((data[kept], indices[kept] - left,
                                 pointers(rows[kept], bottom - top)),
                                (bottom - top, right - left), source._ctx)


@kernel("Concat")
def _concat(inputs, attrs):
    stypes = [array.stype for array in inputs]
    if _storage.infer("Concat", stypes, attrs) != "csr":
        return None
    parts = [array._get_parts() for array in inputs]
    rows, base = [], 0
    for array, (_, _, indptr) in zip(inputs, parts):
        rows.append(rows_of(indptr) + base)
        base += array.shape[0]
    return CSRNDArray._of_parts(
        (np.concatenate([part[0] for part in parts]),
         np.concatenate([part[1] for part in parts]),
         pointers(np.concatenate(rows), base)),
        (base, inputs[0].shape[1]), inputs[0]._ctx)


@kernel("elemwise_add", "add_n", "_grad_add")
def _add(inputs, attrs):
    if any(array.stype != "row_sparse" or array.shape != inputs[0].shape
           for array in inputs):
        return None
    parts = [array._get_parts() for array in inputs]
    rows, where = np.unique(np.concatenate([part[1] for part in parts]),
                            return_inverse=True)
    values = np.concatenate([part[0] for part in parts])
    total = np.zeros((len(rows), *values.shape[1:]), values.dtype)
    np.add.at(total, where.reshape(-1), values)
    return inputs[0]._like((total, rows))


@kernel("norm")
def _norm(inputs, attrs):
    (source,) = inputs
    if attrs.get("axis") is not None or _storage.is_true(attrs, "keepdims") or (
            attrs.get("ord", 2) != 2 or attrs.get("out_dtype")):
        return None
    data = source._get_parts()[0]
    return dense_array(np.linalg.norm(data.reshape(-1)).astype(data.dtype), source)


@kernel("_square_sum")
def _square_sum(inputs, attrs):
    (source,) = inputs
    if _storage.infer("_square_sum", [source.stype], attrs) != "row_sparse":
        return None
    data, rows = source._get_parts()
    return RowSparseNDArray._of_parts(
        (np.square(data).sum(axis=1, keepdims=True), rows.copy()),
        (source.shape[0], 1), source._ctx)


@kernel("dot", records=True)
def _dot(inputs, attrs):
    left, right = inputs
    if left.stype != "csr" or right.stype == "csr" or _storage.is_true(
            attrs, "transpose_b"):
        return None
    result = _products.dot(left, right, _storage.is_true(attrs, "transpose_a"))
    stype = _storage.infer("dot", [left.stype, right.stype], attrs)
    if stype == "default" or result is None:
        return result
    from ._dispatch import stored_as
    return stored_as(stype, result._array, result._ctx)


@kernel("_scatter_elemwise_div")
def _divided_rows(inputs, attrs):
    """Of the rows that the left array stores."""
    left, right = inputs
    if left.stype != "row_sparse":
        return None
    data, rows = left._get_parts()
    with np.errstate(all="ignore"):
        return left._like(((data / right.asnumpy()[rows]).astype(data.dtype),
                           rows.copy()))
