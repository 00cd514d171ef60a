# SPDX-License-Identifier: Apache-2.0
"""What may be taken for an array of real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def numbers(array: ArrayLike, name: str) -> NDArray[Any]:
    """Floats, integers or booleans, of any strides, in the machine's order of
    bytes. Raises TypeError for all else, which NumPy would convert (text,
    imaginary parts, masks)."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"'{name}' is a masked array: its filled(value) has a "
                        "value for every element")
    found = np.asarray(array)
    if found.dtype.kind not in "fiub":
        raise TypeError(f"'{name}' takes numbers, not {found.dtype}")
    return found.astype(found.dtype.newbyteorder("="), copy=False)
