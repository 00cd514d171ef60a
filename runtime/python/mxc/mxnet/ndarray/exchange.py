# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, and arrays for them."""

import numpy as np

from ... import _ndarray
from ..context import current_context
from . import _empty
from .creation import array
from .ndarray import NDArray

__all__ = ["from_numpy", "from_dlpack", "to_dlpack_for_read", "to_dlpack_for_write"]


def from_numpy(ndarray, zero_copy=True):
    """An array over a dense NumPy array's memory, which can no longer be written by
    NumPy; zero_copy=False: of a copy."""
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("an array over NumPy's memory needs it dense and row-major; "
                         "zero_copy=False copies any")
    made = NDArray(_empty.from_numpy(ndarray, _ndarray.over_numpy), current_context())
    ndarray.flags["WRITEABLE"] = False
    return made


def to_dlpack_for_read(data):
    """A capsule over the array's memory, once nothing writes it."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data):
    """A capsule over the array's memory, once nothing uses it."""
    return data.to_dlpack_for_write()


class _Capsule:
    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        return (1, 0)  # the host


def from_dlpack(dlpack):
    """An array over the memory of a capsule, or of an object that gives one."""
    there = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)
    values = np.from_dlpack(there)
    return NDArray(_ndarray.over_numpy(np.ascontiguousarray(values)),
                   current_context())
