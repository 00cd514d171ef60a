# SPDX-License-Identifier: Apache-2.0
"""Elements of mx.np's arrays by NumPy's keys: views where the elements lie together,
copies elsewhere; assignment to any of them."""

import numpy as onp

from ... import _ndarray
from .._numpy._call import call, from_numpy, is_empty, view
from ..base import MXNetError
from ..ndarray import _empty
from ..ndarray._indexing import (_as_tuple, _fitting, _is_basic, _plain, _Region)
from ..ndarray._invoke import is_recording


def get(array, key):
    """array[key]."""
    plain = _as_tuple(_plain(key))
    if is_empty(array):
        return from_numpy(array._array.memory()[plain])
    if not _is_basic(plain):
        return _get_advanced(array, plain)
    region = _Region(array.shape, plain)
    result = region.result
    if 0 in result:
        return from_numpy(onp.empty(result, array.dtype))
    flat = region.flat_range(array.shape)
    if flat is not None:
        part = array
        if flat != (0, array.size):
            part = array._new(array._array.reshape([array.size]).slice(*flat))
        return view(part, result)
    if is_recording():
        return _slice_recorded(array, region, result)
    return from_numpy(array._view_numpy()[plain].reshape(result))


def _slice_recorded(array, region, result):
    stop = [None if step < 0 and end < 0 else end
            for end, step in zip(region.stop, region.step)]
    part = call("_npi_slice", [array], {"begin": tuple(region.begin), "end": tuple(stop),
                                        "step": tuple(region.step)})
    return view(part, result)


def _get_advanced(array, key):
    try:
        if not is_recording():
            return from_numpy(array._view_numpy()[key])
        # Which elements these are, by the elements' own numbers.
        numbers = onp.arange(array.size, dtype=onp.int64).reshape(array.shape)[key]
    except IndexError as error:
        raise IndexError(str(error)) from None
    if not numbers.size:
        return from_numpy(onp.empty(numbers.shape, array.dtype))
    flat = view(array, (array.size,))
    picked = call("_npi_take", [flat, from_numpy(numbers.ravel())],
                  {"axis": 0, "mode": "clip"})
    return view(picked, numbers.shape)


def set(array, key, value):
    """array[key] = value, which is broadcast."""
    if is_recording() and array.size and (
            array._grad is not None or _ndarray.is_recorded(array._array)):
        raise MXNetError("Inplace operations (+=, -=, x[:]=, etc) are not supported when "
                         "recording with autograd.")
    from ..ndarray import NDArray
    plain = _as_tuple(_plain(key))
    if isinstance(value, NDArray):
        _set(array, plain, value.asnumpy())
        if is_recording() and array.size:
            if is_empty(value):
                _empty.as_head(array._array)
            elif _ndarray.is_recorded(value._array):
                _record_set(array, plain, value)
    else:
        _set(array, plain, onp.asarray(value))


def _set(array, plain, value):
    if value.dtype.kind not in "biuf":
        raise TypeError(f"elements cannot be set to {value.dtype}")
    if is_empty(array):
        array._array.memory()[plain] = value
        return
    with onp.errstate(all="ignore"):
        if _covers(array, plain):
            values = onp.empty(array.shape, array.dtype)
            values[plain] = _fitting(value, values[plain].shape)
            array._array.write(values)
            return
        memory = array._view_numpy(writes=True)
        memory[plain] = _fitting(value, memory[plain].shape)


def _record_set(array, key, value):
    """Notes that the elements of array[key] are those of value: what arrives for them
    is its gradient."""
    shape, dtype = value.shape, value.dtype

    def gradient(heads):
        arrived = heads[0].numpy()[key]
        arrived = arrived.sum(axis=tuple(range(arrived.ndim - len(shape))))
        stretched = tuple(axis for axis, (own, given) in
                          enumerate(zip(shape, onp.shape(arrived))) if own != given)
        summed = arrived.sum(axis=stretched, keepdims=True)
        return [from_numpy(summed.reshape(shape).astype(dtype))._array]
    _ndarray.record_function([value._array], [array._array], gradient)


def _covers(array, key):
    return _is_basic(key) and _Region(array.shape, key).flat_range(array.shape) == (
        0, array.size)
