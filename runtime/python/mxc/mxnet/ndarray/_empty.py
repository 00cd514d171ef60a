# SPDX-License-Identifier: Apache-2.0
"""Arrays without elements, which mxc._ndarray does not have: they can be made, viewed,
copied and saved; operators refuse them."""

import functools
import math

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


# Stand for an extent of 0 while shapes are inferred, where 0 is an unknown one.
_PRIMES = (1009, 211, 53, 13)

# What sums and products of no elements are, by the operators' names.
_NEUTRAL = {name: 0 for name in """sum _np_sum dot batch_dot _np_dot _npi_matmul
_npi_tensordot _npi_tensordot_int_axes _npi_einsum _np_any nansum norm _npi_norm
square_sum""".split()} | {"prod": 1, "_np_prod": 1, "nanprod": 1, "_np_all": 1,
                          "mean": np.nan, "_npi_mean": np.nan, "_npi_var": np.nan,
                          "_npi_std": np.nan}


def call(name, arrays, attrs, outputs=None):
    """An operator's results where an input has no elements: arrays without elements,
    or of what a sum of none is. MXNetError of others."""
    from ..symbol import _operators
    from ..symbol._infer import graph_of
    from ..symbol._node import Node
    attrs = dict(attrs)
    full = [array for array in arrays if not isinstance(array, EmptyArray)]
    if name in ("Concat", "concat") and full:
        return _ndarray.Operator(name, [("dim", attrs.get("dim", "1")),
                                        ("num_args", str(len(full)))]).call(
            full, outputs, False)
    variadic = _operators.find(name).variadic
    if variadic:
        attrs.setdefault(variadic, str(len(arrays)))
    node = Node(name, "call", attrs,
                [(Node(None, f"input{i}"), 0) for i in range(len(arrays))])
    graph = graph_of([(node, i) for i in range(node.outputs())])
    nothing = _stand_in([array.shape for array in arrays])
    shapes = {f"input{i}": tuple(extent or nothing for extent in array.shape)
              for i, array in enumerate(arrays)}
    types = {f"input{i}": array.dtype for i, array in enumerate(arrays)}
    _, _, shapes, types = graph.infer(shapes, types, False)
    made = [_made(name, tuple(0 if extent and extent % nothing == 0 else extent
                              for extent in shape), dtype)
            for shape, dtype in zip(shapes, types)]
    for array, output in zip(made, outputs or ()):
        if output is not None:
            array.copy_to(output)
    return made


def _stand_in(shapes):
    """A prime that no extent holds, and with which the shapes are not too large."""
    for prime in _PRIMES:
        sizes = [math.prod(extent or prime for extent in shape) for shape in shapes]
        if max(sizes) < 2**44 and all(extent % prime or not extent
                                      for shape in shapes for extent in shape):
            return prime
    raise MXNetError(f"arrays of shapes {shapes} have too many extents of 0")


def _made(name, shape, dtype):
    if 0 in shape:
        return EmptyArray(np.empty(shape, dtype))
    if name not in _NEUTRAL:
        raise MXNetError(f"{name} is not defined of an array without elements",
                         "invalid argument")
    made = _ndarray.from_numpy(np.full(shape, _NEUTRAL[name], dtype))
    as_head(made)
    return made


@functools.cache
def _nobody():
    array, gradient = (_ndarray.from_numpy(np.zeros(1, "float32")) for _ in range(2))
    _ndarray.mark(array, gradient, "write")
    return array, gradient


def as_head(made):
    """While autograd records: backward() may begin at this array, although nothing
    has a gradient of it."""
    if _ndarray.is_recording():
        array, gradient = _nobody()
        _ndarray.record_function([array], [made], lambda gradients: [gradient])
