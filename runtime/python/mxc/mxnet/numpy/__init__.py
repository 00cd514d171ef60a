# SPDX-License-Identifier: Apache-2.0
"""mx.np: NumPy's functions over mxc, with autograd.

Functions that operators compute are recorded for gradients; those of _numpy/_host.py are
computed by NumPy over the values, and refuse to be recorded where a gradient would be
missing."""

import numpy as _onp

from .._numpy import _creation, _functions
from . import _internal, linalg, multiarray, random
from .multiarray import ndarray

globals().update(_functions.CONSTANTS)
globals().update(_functions.SHARED)
globals().update(_creation.ARRAYS)

float16, float32, float64 = _onp.float16, _onp.float32, _onp.float64
int8, int16, int32, int64 = _onp.int8, _onp.int16, _onp.int32, _onp.int64
uint8, uint16, uint32, uint64 = _onp.uint8, _onp.uint16, _onp.uint32, _onp.uint64
bool_, dtype, finfo, iinfo = _onp.bool_, _onp.dtype, _onp.finfo, _onp.iinfo
bool = bool
set_printoptions = _onp.set_printoptions


def genfromtxt(*args, **kwargs):
    """An array of a text file's numbers; see NumPy's genfromtxt."""
    kwargs.setdefault("dtype", float32)
    ctx = kwargs.pop("ctx", None)
    return _creation.array(_onp.genfromtxt(*args, **kwargs), ctx=ctx)
