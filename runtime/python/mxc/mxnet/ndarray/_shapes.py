# SPDX-License-Identifier: Apache-2.0
"""Shapes as users write them."""

import numpy as np

from ..base import MXNetError


class ShapeError(MXNetError, ValueError):
    """A shape that does not fit."""


def as_shape(shape):
    """A tuple of extents, from a number or anything iterable."""
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    return tuple(int(extent) for extent in shape)


def reshaped(old, *shape, reverse=False, **kwargs):
    """The shape that NDArray.reshape's codes say for an array of shape `old`.

    Raises ShapeError where the number of elements does not fit."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    elif not shape:
        if "shape" not in kwargs:
            raise ValueError("reshape is given no shape")
        shape = kwargs.pop("shape")
    if kwargs:
        raise TypeError(f"reshape takes shape and reverse, not "
                        f"'{next(iter(kwargs))}'")
    codes = as_shape(shape)
    if not codes and int(np.prod(old, dtype=np.int64)) == 1:
        return []
    try:
        extents = (_from_left(old[::-1], codes[::-1])[::-1] if reverse else
                   _from_left(old, codes))
    except (IndexError, ValueError, ZeroDivisionError):
        raise ShapeError(f"an array of shape {tuple(old)} cannot be reshaped to "
                         f"{codes}: a code has no axis, or -4 no extents") from None
    elements = int(np.prod(old, dtype=np.int64))
    if -1 in extents:
        known = -int(np.prod(extents, dtype=np.int64))
        if known == 0 or elements % known:
            raise ShapeError(f"an array of shape {tuple(old)} cannot be reshaped to "
                             f"{codes}")
        extents[extents.index(-1)] = elements // known
    if int(np.prod(extents, dtype=np.int64)) != elements:
        raise ShapeError(f"an array of shape {tuple(old)} cannot be reshaped to "
                         f"{codes}: it has {elements} elements")
    return extents


def _from_left(old, codes):
    extents, axis, position = [], 0, 0
    codes = list(codes)
    while position < len(codes):
        code = codes[position]
        if code == 0:
            extents.append(old[axis])
        elif code == -2:
            extents.extend(old[axis:])
            axis = len(old) - 1
        elif code == -3:
            extents.append(old[axis] * old[axis + 1])
            axis += 1
        elif code == -4:
            extents.extend(_split(old[axis], codes[position + 1:position + 3]))
            position += 2
        else:
            extents.append(code)
        axis += 1
        position += 1
    return extents


def _split(extent, parts):
    first, second = parts
    if first == -1:
        first = extent // second
    if second == -1:
        second = extent // first
    return [first, second]
