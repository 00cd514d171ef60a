# SPDX-License-Identifier: Apache-2.0
"""Arrays without elements, which mxc._ndarray does not have: they can be made, viewed,
copied and saved; operators refuse them."""

import numpy as np

from ... import _ndarray
from ..base import MXNetError


class EmptyArray:
    """As mxc._ndarray.Array, over a NumPy array without elements."""

    def __init__(self, values):
        self._values = values
        self.shape = values.shape
        self.dtype = values.dtype.name

    def numpy(self):
        return self._values.copy()

    def memory(self, writes=False):
        return self._values

    def reshape(self, dims):
        try:
            return EmptyArray(self._values.reshape(tuple(dims)))
        except ValueError as error:
            raise MXNetError(str(error), "invalid argument") from None

    def slice(self, begin, end):
        return EmptyArray(self._values[begin:end])

    def write(self, values):
        pass

    def copy_to(self, to):
        pass

    def wait(self):
        pass


def from_numpy(values, over=_ndarray.from_numpy):
    """An array of NumPy's values, with elements or without; `over` makes it."""
    return over(values) if values.size else EmptyArray(values)


def zeros(shape, dtype):
    """Zeros of a shape that may have an extent of 0."""
    if 0 in shape:
        return EmptyArray(np.empty(shape, dtype))
    return _ndarray.empty(list(shape), dtype)
