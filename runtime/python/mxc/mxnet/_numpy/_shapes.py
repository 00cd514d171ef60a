# SPDX-License-Identifier: Apache-2.0
"""Functions that give the same elements in another shape or order."""

import numpy as onp

from ..ndarray import NDArray
from ..ndarray._shapes import as_shape
from ..symbol import Symbol
from ._call import (BadValue, MXNetError, as_array, axis_tuple, call, function, is_empty,
                    is_symbolic, of_numpy, on_host)


def _order(order):
    if order != "C":
        raise NotImplementedError(f"arrays lie in order C, not {order!r}")


@function()
def reshape(a, newshape, reverse=False, order="C"):
    """The elements in another shape; one extent may be -1."""
    _order(order)
    newshape = as_shape(newshape)
    if not isinstance(a, Symbol) and not a.size:
        return on_host(onp.reshape, (a, newshape), {}, False)
    return call("_np_reshape", [a], {"newshape": newshape})


def ravel(x, order="C"):
    """The elements along one axis."""
    return reshape(x, (-1,), order=order)


@function()
def transpose(a, axes=None):
    """The axes in another order; without one, the other way round."""
    if axes is None or axes == ():
        return call("_np_transpose", [a])
    if not isinstance(a, Symbol):
        axes = tuple(_axis_of(axis, a.ndim, "transpose") for axis in axes)
        if len(set(axes)) != a.ndim:
            raise BadValue(f"np.transpose: axes {axes} are not an order of the {a.ndim} axes")
    return call("_np_transpose", [a], {"axes": tuple(axes)})


def _axis_of(axis, ndim, name):
    if not -ndim <= axis < ndim:
        raise MXNetError(f"np.{name}: there is no axis {axis} among {ndim}")
    return int(axis) % ndim


@function()
def swapaxes(a, axis1, axis2):
    """Two axes take each other's place."""
    return call("_npi_swapaxes", [a], {"dim1": axis1, "dim2": axis2})


@function()
def moveaxis(a, source, destination):
    """Axes at other places; the others keep their order."""
    return call("_np_moveaxis", [a], {"source": axis_tuple(source),
                                      "destination": axis_tuple(destination)})


@function()
def rollaxis(a, axis, start=0):
    """An axis before the one at `start`."""
    ndim = a.ndim
    axis %= ndim
    start += ndim if start < 0 else 0
    return moveaxis(a, axis, start - 1 if axis < start else start)


@function()
def expand_dims(a, axis):
    """Another axis of extent 1."""
    return call("_npi_expand_dims", [a], {"axis": axis})


@function()
def squeeze(a, axis=None, out=None):
    """Without the axes of extent 1, or without some of them."""
    if not isinstance(a, Symbol):
        try:
            shape = onp.squeeze(onp.broadcast_to(0, a.shape), axis).shape
        except ValueError as error:
            raise MXNetError(f"np.squeeze: {error}") from None
        return call("_np_reshape", [a], {"newshape": shape}, out)
    return call("_np_squeeze", [a], {} if axis is None else {"axis": axis_tuple(axis)})


def broadcast_to(array, shape):
    """Axes of extent 1, and new ones before them, take the extents of `shape`."""
    array, shape = as_array(array), as_shape(shape)
    if 0 in shape or is_empty(array):
        return on_host(onp.broadcast_to, (array, shape), {}, False)
    return call("_npi_broadcast_to", [array], {"shape": shape})


def broadcast_arrays(*args, **kwargs):
    """A list of the arrays in their common shape."""
    try:
        shape = onp.broadcast_shapes(*[array.shape for array in args])
    except ValueError as error:
        raise MXNetError(f"np.broadcast_arrays: {error}") from None
    return [broadcast_to(array, shape) for array in args]


@function()
def flip(m, axis=None, out=None):
    """The other way round along axes, or along all."""
    if axis is None:
        if isinstance(m, Symbol):
            flat = call("_np_reshape", [m], {"newshape": (-1,)})
            return call("_npx_reshape_like",
                        [call("_npi_flip", [flat], {"axis": (0,)}), m])
        axis = tuple(range(m.ndim))
    if axis == ():
        return call("_copy", [m], None, out)
    return call("_npi_flip", [m], {"axis": axis_tuple(axis)}, out)


def flipud(m):
    """The first axis the other way round."""
    if not is_symbolic(m) and m.ndim < 1:
        raise ValueError("np.flipud: an array has one axis at least")
    return flip(m, 0)


def fliplr(m):
    """The second axis the other way round."""
    if not is_symbolic(m) and m.ndim < 2:
        raise ValueError("np.fliplr: an array has two axes at least")
    return flip(m, 1)


@function()
def roll(a, shift, axis=None):
    """Elements that leave at one end come in at the other."""
    attrs = {"shift": axis_tuple(shift)}
    if axis is not None:
        attrs["axis"] = axis_tuple(axis)
    return call("_np_roll", [a], attrs)


@function()
def rot90(m, k=1, axes=(0, 1)):
    """Turned by 90 degrees k times, in the plane of two axes."""
    if not isinstance(m, Symbol):
        if len(axes) != 2 or (axes[0] - axes[1]) % m.ndim == 0:
            raise MXNetError(f"np.rot90: two different axes are needed, found {axes}")
        if any(not -m.ndim <= axis < m.ndim for axis in axes):
            raise MXNetError(f"np.rot90: axes {axes} of an array of {m.ndim} axes")
    return call("_npi_rot90", [m], {"k": k, "axes": tuple(axes)})


@function()
def tile(A, reps):
    """Copies of it, `reps` along each axis."""
    reps = as_shape(reps)
    if not isinstance(A, (NDArray, Symbol)):
        return onp.tile(A, reps)
    if 0 in reps:
        return on_host(onp.tile, (A, reps), {}, False)
    return call("_npi_tile", [A], {"reps": reps}) if reps else call("_copy", [A])


@function()
def repeat(a, repeats, axis=None):
    """Each element `repeats` times, along an axis or in their order."""
    if isinstance(a, (int, float)):
        a = as_array(a)
    if not isinstance(repeats, int) or repeats == 0:
        return on_host(onp.repeat, (a, repeats, axis), {}, repeats != 0)
    attrs = {"repeats": repeats}
    if axis is not None:
        attrs["axis"] = axis
    return call("_np_repeat", [a], attrs)


def _atleast(rank):
    def over(*arys):
        found = []
        for array in arys:
            array = as_array(array)
            found.append(on_host(getattr(onp, f"atleast_{rank}d"), (array,), {}, False)
                         if is_empty(array) else
                         call(f"_np_atleast_{rank}d", [array], {"num_args": 1}))
        return found[0] if len(found) == 1 else found
    over.__name__ = f"atleast_{rank}d"
    over.__doc__ = f"With {rank} axes at least; of several arrays a list."
    return over


@function()
def diag(v, k=0):
    """A matrix with v on its k-th diagonal, or the diagonal of a matrix."""
    if not isinstance(v, Symbol) and v.ndim == 2 and not onp.diag(
            onp.broadcast_to(0, v.shape), k).size:
        return on_host(onp.diag, (v, k), {}, False)
    return call("_np_diag", [v], {"k": k})


@function()
def diagflat(v, k=0):
    """A matrix with all of v's elements on its k-th diagonal."""
    return call("_np_diagflat", [v], {"k": k})


@function()
def diagonal(a, offset=0, axis1=0, axis2=1):
    """Diagonals of the planes of two axes, along the last axis."""
    if not isinstance(a, Symbol):
        try:
            shape = onp.diagonal(onp.broadcast_to(0, a.shape), offset, axis1, axis2).shape
        except ValueError as error:
            raise MXNetError(f"np.diagonal: {error}") from None
        if 0 in shape:
            return on_host(onp.diagonal, (a, offset, axis1, axis2), {}, False)
    return call("_np_diagonal", [a], {"offset": offset, "axis1": axis1, "axis2": axis2})


@function()
def tril(m, k=0):
    """Zeros above the k-th diagonal."""
    return call("_npi_tril", [m], {"k": k})


@function()
def triu(m, k=0):
    """Zeros below the k-th diagonal."""
    return m - call("_npi_tril", [m], {"k": k - 1})


@function()
def resize(a, new_shape):
    """The elements over and over again in another shape."""
    if isinstance(a, Symbol):
        return on_host(onp.resize, (a, new_shape), {})
    new_shape = as_shape(new_shape)
    wanted = int(onp.prod(new_shape, dtype=int))
    if not wanted:
        return on_host(onp.resize, (a, new_shape), {}, False)
    flat = tile(ravel(a), -(-wanted // a.size))
    return reshape(flat[:wanted], new_shape)


@function()
def pad(x, pad_width, mode="constant", **kwargs):
    """More elements at the ends of axes; pad_width: numbers before and behind each."""
    if is_symbolic(x):
        pairs = pad_width
    else:
        pairs = onp.broadcast_to(onp.asarray(pad_width), (x.ndim, 2)).tolist()
    operator_modes = ("constant", "edge", "reflect", "symmetric", "maximum", "minimum")
    if mode not in operator_modes or set(kwargs) - {"constant_values", "reflect_type"}:
        return on_host(onp.pad, (x, pad_width, mode), kwargs)
    attrs = {"pad_width": tuple(tuple(pair) for pair in pairs), "mode": mode}
    if "constant_values" in kwargs:
        attrs["constant_value"] = float(kwargs["constant_values"])
    if mode in ("maximum", "minimum") or kwargs.get("reflect_type", "even") != "even":
        return on_host(onp.pad, (x, pairs, mode), kwargs)
    if mode in ("reflect", "symmetric") and not is_symbolic(x):
        return _mirrored(x, pairs, mode)
    return call("_npi_pad", [x], attrs)


def _mirrored(x, pairs, mode):
    """Mirrored at its ends, and what comes of that again, until there is enough: an
    axis has something to mirror as often as it is long."""
    for axis, pair in enumerate(pairs):
        if min(pair) < 0:
            raise ValueError(f"axis {axis} is padded by {tuple(pair)}, expected numbers "
                             "of at least 0")
    none = (0, 0)
    if mode == "reflect" and 1 in x.shape:  # an element alone is repeated
        alone = [pair if extent == 1 else none for pair, extent in zip(pairs, x.shape)]
        pairs = [none if extent == 1 else pair for pair, extent in zip(pairs, x.shape)]
        x = call("_npi_pad", [x], {"pad_width": tuple(map(tuple, alone)), "mode": "edge"})
    while True:
        now = tuple(tuple(min(width, extent - (mode == "reflect")) for width in pair)
                    for pair, extent in zip(pairs, x.shape))
        x = call("_npi_pad", [x], {"pad_width": now, "mode": mode})
        pairs = [[width - done for width, done in zip(pair, part)]
                 for pair, part in zip(pairs, now)]
        if not any(map(any, pairs)):
            return x


def shape_of(a):
    """The extents of an array's axes."""
    return of_numpy(onp.shape(a)) if not hasattr(a, "shape") else a.shape


FUNCTIONS = {over.__name__: over for over in (
    reshape, ravel, transpose, swapaxes, moveaxis, rollaxis, expand_dims, squeeze,
    broadcast_to, broadcast_arrays, flip, flipud, fliplr, roll, rot90, tile, repeat, diag,
    diagflat, diagonal, tril, triu, resize, pad, *map(_atleast, (1, 2, 3)))}
FUNCTIONS["shape"] = shape_of
