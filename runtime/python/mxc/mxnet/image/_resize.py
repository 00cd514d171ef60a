# SPDX-License-Identifier: Apache-2.0
"""Resizing by areas, cubics and Lanczos' windows, as OpenCV does it; the operator
_image_resize has nearest and bilinear."""
import functools

import numpy as np

CUBIC, AREA, LANCZOS = 2, 3, 4


def resize(values, width, height, method):
    """`values` (…, H, W, C) as (…, height, width, C) of the same type."""
    old_height, old_width = values.shape[-3:-1]
    shrinks = height <= old_height and width <= old_width
    if method == AREA:
        kind = "area" if shrinks else "linear"
    else:
        kind = "cubic" if method == CUBIC else "lanczos"
    down, across = _weights(old_height, height, kind), _weights(old_width, width, kind)
    out = np.einsum("yh,...hwc->...ywc", down, values.astype(np.float64), optimize=True)
    out = np.einsum("xw,...ywc->...yxc", across, out, optimize=True)
    if np.issubdtype(values.dtype, np.integer):
        limits = np.iinfo(values.dtype)
        out = np.clip(np.rint(out), limits.min, limits.max)
    return out.astype(values.dtype)


@functools.lru_cache(maxsize=64)
def _weights(old, new, kind):
    """(new, old): what each old element gives to each new one; rows have the sum 1."""
    scale = old / new
    matrix = np.zeros((new, old))
    for i in range(new):
        first, weights = _taps(i, scale, kind)
        for k, weight in enumerate(weights):
            matrix[i, min(max(first + k, 0), old - 1)] += weight
    return matrix / matrix.sum(axis=1, keepdims=True)


def _taps(i, scale, kind):
    """(the first old element, weights from it on) of new element `i`."""
    if kind == "area":
        begin, end = i * scale, (i + 1) * scale
        first = int(begin)
        last = max(int(np.ceil(end - 1e-9)), first + 1)
        return first, [min(end, k + 1) - max(begin, k) for k in range(first, last)]
    if kind == "linear":
        first = int(i * scale)
        part = (i + 1) - (first + 1) / scale
        part = 0.0 if part <= 0 else part - int(part)
        return first, [1 - part, part]
    at = (i + 0.5) * scale - 0.5
    below = int(np.floor(at))
    reach, weigh = (2, _cubic) if kind == "cubic" else (4, _lanczos)
    return below - reach + 1, [weigh(abs(at - below - k)) for k in range(1 - reach, reach + 1)]


def _cubic(x, a=-0.75):
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def _lanczos(x):
    return float(np.sinc(x) * np.sinc(x / 4)) if x < 4 else 0.0
