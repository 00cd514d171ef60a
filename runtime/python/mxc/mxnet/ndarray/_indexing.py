# SPDX-License-Identifier: Apache-2.0
"""Elements of arrays by NumPy's keys: views where the elements lie together,
copies elsewhere; assignment to any of them."""

import numpy as np

from ... import _ndarray
from ..base import MXNetError
from . import _empty
from ._invoke import _invoke, is_recording

_NUMBERS = (int, float, bool, np.generic)


def _plain(key):
    """A key as NumPy takes it: arrays of indices become whole numbers."""
    from .ndarray import NDArray
    if isinstance(key, tuple):
        return tuple(_plain(part) for part in key)
    if isinstance(key, NDArray):
        key = key.asnumpy()
    if isinstance(key, np.ndarray) and key.dtype != bool:
        return key.astype(np.int64)
    if isinstance(key, (list, range)):
        return np.asarray(key).astype(np.int64) if not _is_mask(key) else (
            np.asarray(key))
    return key


def _is_mask(key):
    return bool(len(key)) and all(isinstance(part, (bool, np.bool_)) for part in key)


def _is_basic(key):
    return all(part is None or part is Ellipsis or
               isinstance(part, (int, np.integer, slice)) and
               not isinstance(part, (bool, np.bool_)) for part in key)


class _Region:
    """What a basic key of slices and numbers means for a shape."""

    def __init__(self, shape, key):
        key = list(key)
        named = sum(part is not None and part is not Ellipsis for part in key)
        if named > len(shape):
            raise IndexError(f"too many indices: {named} for {len(shape)} axes")
        if Ellipsis not in [part for part in key if part is Ellipsis]:
            key.append(Ellipsis)
        at = next(i for i, part in enumerate(key) if part is Ellipsis)
        key[at:at + 1] = [slice(None)] * (len(shape) - named)
        self.begin, self.stop, self.step, self.result = [], [], [], []
        axis = 0
        for part in key:
            if part is None:
                self.result.append(1)
                continue
            self._add(shape[axis], axis, part)
            axis += 1

    def _add(self, extent, axis, part):
        if isinstance(part, slice):
            rows = range(*part.indices(extent))
            self.begin.append(rows.start)
            self.step.append(rows.step)
            self.stop.append(rows.stop)
            self.result.append(len(rows))
            return
        index = int(part)
        if not -extent <= index < extent:
            raise IndexError(f"axis {axis} has {extent} elements, and number {index} "
                             "is asked for")
        index %= extent
        self.begin.append(index)
        self.step.append(1)
        self.stop.append(index + 1)

    def counts(self):
        return [len(range(*row))
                for row in zip(self.begin, self.stop, self.step)]

    def flat_range(self, shape):
        """(begin, end) among the elements where they lie together, else None."""
        counts = self.counts()
        if 0 in counts or any(step != 1 and count > 1
                              for step, count in zip(self.step, counts)):
            return None
        whole = True
        for extent, count in zip(reversed(shape), reversed(counts)):
            if not whole and count != 1:
                return None
            whole = whole and count == extent
        begin = 0
        for extent, first in zip(shape, self.begin):
            begin = begin * extent + first
        return begin, begin + int(np.prod(counts, dtype=np.int64))


def _as_tuple(key):
    return key if isinstance(key, tuple) else (key,)


def get(array, key):
    """array[key]."""
    key = _as_tuple(_plain(key))
    if not _is_basic(key):
        return _get_advanced(array, key)
    shape = array.shape
    region = _Region(shape, key)
    result = region.result
    if not result and not shape:
        return array
    if not result:
        result = [1]  # an array without axes is none of MXNet's
    if 0 in result:
        return array._new(_empty.zeros(tuple(result), array._array.dtype))
    flat = region.flat_range(shape)
    if flat is not None:
        view = array._array
        if flat != (0, array.size):
            view = view.reshape([array.size]).slice(*flat)
        return array._new(view.reshape(result))
    if is_recording():
        return _slice_recorded(array, region, result)
    return _from_numpy(array, array._view_numpy()[key].reshape(result))


def is_contiguous(key, shape):
    """Whether a basic key chooses elements that lie together."""
    return _Region(shape, _as_tuple(key)).flat_range(shape) is not None


def _slice_recorded(array, region, result):
    stop = [None if step < 0 and end < 0 else end
            for end, step in zip(region.stop, region.step)]
    part = _invoke("slice", [array], {"begin": tuple(region.begin),
                                      "end": tuple(stop),
                                      "step": tuple(region.step)})
    return part.reshape(tuple(result))


def _from_numpy(array, values):
    return array._new(_empty.from_numpy(np.ascontiguousarray(values)
                                        if values.ndim else values.copy()))


def _get_advanced(array, key):
    if is_recording():
        # Which elements these are, by the elements' own numbers.
        numbers = np.arange(array.size, dtype=np.int64).reshape(array.shape)[key]
        from .creation import array as make
        flat = array.reshape((-1,))
        picked = _invoke("take", [flat, make(numbers.ravel(), dtype="int64")], {})
        return picked.reshape(numbers.shape or (1,))
    try:
        values = array._view_numpy()[key]
    except IndexError as error:
        raise IndexError(str(error)) from None
    return _from_numpy(array, values if values.ndim else values.reshape(1))


def set(array, key, value):
    """array[key] = value, which is broadcast."""
    from .ndarray import NDArray
    recording = is_recording()
    if recording and _ndarray.is_recorded(array._array) and not isinstance(
            array._array, _empty.EmptyArray) and array._grad is None:
        raise MXNetError("an array that was computed from variables is not "
                         "written while the thread records")
    plain = _as_tuple(_plain(key))
    whole = (_is_basic(plain) and
             _Region(array.shape, plain).flat_range(array.shape) ==
             (0, array.size))
    if isinstance(value, NDArray):
        if whole and value.shape == array.shape:
            if value is not array:
                array._assign(value)
            return
        if recording and _ndarray.is_recorded(value._array):
            if not _is_basic(plain) or value.dtype != array.dtype:
                raise MXNetError("Inplace operations (+=, -=, x[:]=, etc) are not "
                                 "supported when recording with autograd, but for "
                                 "slices and values of the array's type.")
            _assign_recorded(array, plain, value)
            return
        value = value.asnumpy()
    elif not isinstance(value, (*_NUMBERS, np.ndarray, list, tuple)):
        raise TypeError(f"an array cannot be set to a {type(value).__name__}")
    with np.errstate(all="ignore"):
        if whole:
            _fill(array, np.asarray(value), plain)
        else:
            memory = array._view_numpy(writes=True)
            memory[plain] = _fitting(np.asarray(value), memory[plain].shape)


def _assign_recorded(array, key, value):
    """Assigns to a part so that gradients pass to the value."""
    region = _Region(array.shape, key)
    stop = [None if step < 0 and end < 0 else end
            for end, step in zip(region.stop, region.step)]
    lead = [1] * (len(region.result) - value.ndim)
    part = _invoke("broadcast_to", [value.reshape((*lead, *value.shape))],
                   {"shape": tuple(region.result)}).reshape(region.counts())
    _invoke("_slice_assign", [array, part],
            {"begin": tuple(region.begin), "end": tuple(stop),
             "step": tuple(region.step)}, array)


def _fitting(value, shape):
    """The value without the axes of extent 1 that it has too many."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    return value


def _fill(array, value, key):
    values = np.empty(array.shape, array.dtype)
    values[key] = _fitting(value, values[key].shape)
    array._array.write(values)
