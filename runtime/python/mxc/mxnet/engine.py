# SPDX-License-Identifier: Apache-2.0
"""mx.engine: hints that need not be given, as operations are not bulked."""

__all__ = ["bulk", "set_bulk_size"]

_size = 15


def set_bulk_size(size):
    """Keeps the number and returns the one before."""
    global _size
    before, _size = _size, size
    return before


class bulk:
    """With block of another bulk size."""

    def __init__(self, size):
        self._size = size

    def __enter__(self):
        self._before = set_bulk_size(self._size)
        return self

    def __exit__(self, *_):
        set_bulk_size(self._before)
