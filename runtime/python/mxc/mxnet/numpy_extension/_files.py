# SPDX-License-Identifier: Apache-2.0
"""Files of mx.np's arrays, in MXNet's format."""

from ..ndarray import utils
from ..numpy.multiarray import as_class, ndarray
from ..util import np_shape


def save(file, arr):
    """Writes an array, a list of them or a dict of them by name."""
    several = arr.values() if isinstance(arr, dict) else (
        arr if isinstance(arr, (list, tuple)) else [arr])
    for value in several:
        if not isinstance(value, ndarray):
            raise TypeError(f"npx.save writes arrays of mx.np, found "
                            f"{type(value).__name__}")
    with np_shape(True):
        utils.save(file, arr)


def savez(file, *args, **kwargs):
    """Writes arrays by name; those without one are arr_0, arr_1, …"""
    named = {f"arr_{i}": value for i, value in enumerate(args)}
    if set(named) & set(kwargs):
        raise ValueError(f"npx.savez: {sorted(set(named) & set(kwargs))[0]} is named twice")
    save(file, {**named, **kwargs})


def load(file):
    """Arrays of a file: a list, or a dict where they have names."""
    with np_shape(True):
        found = utils.load(file)
    if isinstance(found, dict):
        return {name: as_class(value, ndarray) for name, value in found.items()}
    return [as_class(value, ndarray) for value in found]
