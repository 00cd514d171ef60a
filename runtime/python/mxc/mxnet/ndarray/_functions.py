# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.nd that are more than one operator."""

import functools

from ... import _ndarray
from ..base import MXNetError, dtype_name
from . import _register
from ._empty import EmptyArray
from ._invoke import _invoke
from .creation import empty
from .ndarray import NDArray

__all__ = ["concatenate", "moveaxis", "onehot_encode", "split_v2", "histogram",
           "waitall", "imdecode", "reset_arrays", "full_like", "gather_nd", "one_hot",
           "take"]


def waitall():
    """Until nothing is left to do; raises what went wrong and nobody was told."""
    _ndarray.wait_all()


def concatenate(arrays, axis=0, always_copy=True):
    """Arrays one behind the other; always_copy=False: one array is given back."""
    if not isinstance(arrays, list) or not arrays or not all(
            isinstance(array, NDArray) for array in arrays):
        raise AssertionError("concatenate takes a list of NDArrays")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return _invoke("Concat", arrays, {"dim": axis, "num_args": len(arrays)})


def moveaxis(tensor, source, destination):
    """The axes `source` at the places `destination`; others keep their order."""
    axes = list(range(tensor.ndim))
    given = [[axis] if isinstance(axis, int) else list(axis)
             for axis in (source, destination)]
    for axis in (*given[0], *given[1]):
        if not -tensor.ndim <= axis < tensor.ndim:
            raise ValueError(f"axis {axis} of an array of {tensor.ndim} axes")
    sources, places = ([axis % tensor.ndim for axis in part] for part in given)
    if len(sources) != len(places) or len(set(sources)) != len(sources) or (
            len(set(places)) != len(places)):
        raise ValueError("`source` and `destination` name as many axes, each once")
    order = [axis for axis in axes if axis not in sources]
    for place, axis in sorted(zip(places, sources)):
        order.insert(place, axis)
    return _invoke("transpose", [tensor], {"axes": tuple(order)})


def onehot_encode(indices, out):
    """Rows of `out` become zeros with a one where `indices` says."""
    return _invoke("one_hot", [indices], {"depth": out.shape[1],
                                          "dtype": out._array.dtype}, out)


def one_hot(indices, depth, on_value=1.0, off_value=0.0, dtype="float32", out=None,
            name=None):
    """Rows of `depth` elements, on_value where `indices` says, off_value elsewhere."""
    if depth == 0:
        return empty((*indices.shape, 0), indices.context, dtype)
    return _invoke("one_hot", [indices], {"depth": depth, "on_value": on_value,
                                          "off_value": off_value,
                                          "dtype": dtype_name(dtype)}, out)


def gather_nd(data, indices, out=None, name=None):
    """The elements, or parts, of data at places whose i-th coordinates are indices[i],
    negative ones from behind. IndexError of others, for which the indices are waited
    for."""
    if not isinstance(indices._array, EmptyArray):
        for axis, places in enumerate(indices.asnumpy()[:data.ndim]):
            extent = data.shape[axis]
            wrong = places[(places < -extent) | (places >= extent)]
            if wrong.size:
                raise IndexError(_out_of_bounds(wrong, axis, extent))
    return _invoke("gather_nd", [data, indices], {}, out)


def _out_of_bounds(places, axis, extent):
    return f"index {int(places[0])} is out of bounds for axis {axis} with size {extent}"


_take = _register.MODULES[""]["take"]


@functools.wraps(_take)
def take(*args, **kwargs):
    if "raise" in (kwargs.get("mode"), *args[3:4]):
        _check_taken(*args, **kwargs)
    return _take(*args, **kwargs)


def _check_taken(a, indices, axis=0, mode="raise", out=None, name=None):
    """MXNetError where an index is none of the axis; the indices are waited for."""
    if isinstance(indices._array, EmptyArray):
        return
    places, extent = indices.asnumpy(), a.shape[axis]
    wrong = places[(places < 0) | (places >= extent)]
    if wrong.size:
        raise MXNetError("take: " + _out_of_bounds(wrong, axis, extent), "out of range")


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts of equal size, or those that begin at some indices."""
    if isinstance(indices_or_sections, int):
        attrs = {"sections": indices_or_sections, "indices": (0,)}
    else:
        begins = (0, *indices_or_sections)
        bounds = list(zip(begins, (*indices_or_sections, ary.shape[axis])))
        if any(begin == end for begin, end in bounds):
            return [_part(ary, axis, begin, end) for begin, end in bounds]
        attrs = {"indices": begins}
    return _invoke("_split_v2", [ary], {**attrs, "axis": axis,
                                        "squeeze_axis": squeeze_axis})


def _part(ary, axis, begin, end):
    """A part along an axis, which may have no element."""
    if begin == end:
        shape = list(ary.shape)
        shape[axis] = 0
        return empty(tuple(shape), ary.context, ary.dtype)
    return _invoke("slice_axis", [ary], {"axis": axis, "begin": begin, "end": end})


def histogram(a, bins=10, range=None):
    """How many elements lie in each bin, and the bins' edges."""
    if isinstance(bins, NDArray):
        return _invoke("_histogram", [a, bins], {})
    if range is None:
        range = (a.min().asscalar(), a.max().asscalar())
    return _invoke("_histogram", [a], {"bin_cnt": bins,
                                       "range": tuple(float(x) for x in range)})


def imdecode(str_img, clip_rect=(0, 0, 0, 0), out=None, index=0, channels=3,
             mean=None):
    """Refused: mx.image.imdecode decodes pictures."""
    raise NotImplementedError("nd.imdecode: mx.image.imdecode decodes pictures")


def reset_arrays(*arrays, num_arrays=None, **kwargs):
    """Each array becomes zeros."""
    for array in arrays:
        array[:] = 0


def full_like(a, fill_value, out=None):
    """An array of one value, like another."""
    made = empty(a.shape, a.context, a.dtype) if out is None else out
    made[:] = fill_value
    return made
