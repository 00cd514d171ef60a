# SPDX-License-Identifier: Apache-2.0
"""Shapes with unknown extents: 0 (or -1, where shapes are NumPy's)."""


def known(shape):
    """Whether every extent of `shape` is known; `None` is not."""
    return shape is not None and all(extent > 0 for extent in shape)


def compatible(shape, other):
    """Whether `other` has `shape`'s known extents."""
    return len(shape) == len(other) and all(
        mine in (-1, 0, theirs) for mine, theirs in zip(shape, other))
