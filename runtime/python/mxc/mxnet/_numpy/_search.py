# SPDX-License-Identifier: Apache-2.0
"""Functions that sort, choose and find elements."""

import numpy as onp

from ..ndarray import NDArray
from ..ndarray._invoke import is_recording
from ..symbol import Symbol
from ._call import (NUMBERS, Untraceable, as_array, call, from_numpy, function,
                    is_empty, is_symbolic, of_numpy, on_host)
from ._elementwise import cast, promoted


@function()
def sort(a, axis=-1, kind=None, order=None):
    """In order along an axis, or all elements."""
    _unordered("sort", order)
    return call("_npi_sort", [a], {"axis": axis, "is_ascend": True})


@function()
def argsort(a, axis=-1, kind=None, order=None):
    """Where the elements come from in their order; int64."""
    _unordered("argsort", order)
    return call("_npi_argsort", [a], {"axis": axis, "is_ascend": True, "dtype": "int64"})


def _unordered(name, order):
    if order is not None:
        raise NotImplementedError(f"np.{name} knows no fields to order by")


def take(a, indices, axis=None, mode="raise", out=None):
    """Elements by their numbers along an axis, or of all; mode: what becomes of
    numbers that are none: "clip" and "wrap"."""
    if mode not in ("wrap", "clip", "raise"):
        raise NotImplementedError(f"np.take: there is no mode {mode!r}")
    if mode == "raise":
        mode = "clip" if is_symbolic(a, indices) else _checked_mode(a, indices, axis)
    if is_empty(a) or is_empty(indices):
        return on_host(onp.take, (a, indices, axis), {}, False)
    indices = as_array(indices, "int64")
    if axis is None:
        a = call("_np_reshape", [a], {"newshape": (-1,)})
    return call("_npi_take", [a, indices], {"axis": 0 if axis is None else axis,
                                            "mode": mode}, out)


def _checked_mode(a, indices, axis):
    extent = a.size if axis is None else a.shape[axis]
    numbers = onp.asarray(indices.asnumpy() if isinstance(indices, NDArray) else indices)
    if numbers.size and not (-extent <= numbers.min() and numbers.max() < extent):
        raise IndexError(f"np.take: indices from {numbers.min()} to {numbers.max()} among "
                         f"{extent} elements")
    return "wrap"


def where(condition, x=None, y=None):
    """x where the condition is not 0, else y; without both: nonzero."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("np.where: x and y are given both or not at all")
    if isinstance(condition, NUMBERS):
        condition = as_array(onp.asarray(condition != 0))
    if is_empty([condition, x, y]):
        return on_host(onp.where, (condition, x, y), {}, False)
    numbers = isinstance(x, NUMBERS), isinstance(y, NUMBERS)
    if all(numbers):
        return call("_npi_where_scalar2", [condition], {"x": float(x), "y": float(y)})
    if numbers[0]:
        return call("_npi_where_lscalar", [condition, as_array(y)], {"scalar": float(x)})
    if numbers[1]:
        return call("_npi_where_rscalar", [condition, as_array(x)], {"scalar": float(y)})
    x, y = as_array(x), as_array(y)
    if not is_symbolic(x, y) and x._array.dtype != y._array.dtype:
        dtype = promoted(x._array.dtype, y._array.dtype)
        x, y = cast(x, dtype), cast(y, dtype)
    return call("_npi_where", [condition, x, y])


def nonzero(a):
    """Where the elements are not 0: a tuple of int64 arrays, one for each axis."""
    return tuple(on_host(onp.nonzero, (a,), {}))


@function()
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    """Each value once, in order; and where the first ones are, which one each element
    is, and how many there are. What it gives has no gradient."""
    if isinstance(ar, Symbol):
        raise Untraceable("np.unique needs values, and symbols have none")
    values = onp.atleast_1d(ar.asnumpy()) if axis is None or ar.ndim == 0 else ar.asnumpy()
    found = onp.unique(values, return_index, return_inverse, return_counts, axis)
    if not isinstance(found, tuple):
        return of_numpy(found)
    return tuple(of_numpy(part) for part in found)


def unravel_index(indices, shape, order="C"):
    """Numbers of elements as positions along each axis: a tuple of arrays."""
    if order != "C":
        raise NotImplementedError("np.unravel_index: order C is the only one")
    return tuple(on_host(onp.unravel_index, (indices, shape), {}))


def _indices_from(name):
    def over(*args, **kwargs):
        return tuple(on_host(getattr(onp, name), args, kwargs))
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"{name}: positions of elements of a matrix, a tuple of int64 arrays."
    return over


@function()
def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """How many elements lie in each bin, and the bins' edges."""
    if normed or density or weights is not None or is_symbolic(a):
        return on_host(onp.histogram, (a, bins, range), {"weights": weights,
                                                         "density": density})
    if isinstance(bins, NDArray):
        return tuple(call("_npi_histogram", [a, bins]))
    if not isinstance(bins, int):
        return on_host(onp.histogram, (a, bins, range), {}, False)
    if range is None:
        range = (a.min().item(), a.max().item())
    if range[0] == range[1]:
        return on_host(onp.histogram, (a, bins, range), {}, False)
    return tuple(call("_npi_histogram", [a], {
        "bin_cnt": bins, "range": tuple(float(end) for end in range)}))


def bincount(x, weights=None, minlength=0):
    """How often each whole number is there, or the sums of their weights."""
    if not is_symbolic(x) and is_recording() and weights is not None:
        from ._elementwise import FUNCTIONS as elementwise
        length = max(int(x.max().item()) + 1, minlength)
        numbers = from_numpy(onp.arange(length), x.dtype)
        hits = elementwise["equal"](x.reshape((-1, 1)), numbers.reshape((1, -1)))
        return (cast(hits, weights._array.dtype) * weights.reshape((-1, 1))).sum(axis=0)
    return on_host(onp.bincount, (x, weights, minlength), {})


FUNCTIONS = {over.__name__: over for over in (
    sort, argsort, take, where, nonzero, unique, unravel_index, histogram, bincount,
    *map(_indices_from, ("diag_indices_from", "tril_indices", "triu_indices",
                         "tril_indices_from", "triu_indices_from", "diag_indices",
                         "ravel_multi_index")))}
