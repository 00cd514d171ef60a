# SPDX-License-Identifier: Apache-2.0
"""Which of NumPy's functions and ufuncs are those of mx.np for its arrays.

mx.np.ndarray always answers NumPy's protocols, so that the decorators have nothing to
do but call."""

import numpy as _onp

from ._numpy import _linalg
from ._numpy._functions import SHARED
from ._numpy._host import FUNCTIONS as _HOST

# Ufuncs of NumPy that are mx.np's own in steps: MXNet does not count them.
_UNCOUNTED = {"floor_divide", "logical_and", "logical_or", "logical_xor", "deg2rad",
              "rad2deg", "divide", "radians", "ldexp", "log1p", "isfinite", "isinf",
              "isnan"}
# Functions that MXNet leaves to NumPy.
_LEFT = set("""average cross diag_indices histogram kron linalg.cond linalg.det linalg.lstsq
linalg.matrix_power linalg.matrix_rank linalg.multi_dot linalg.qr linalg.slogdet linalg.svd
median moveaxis ravel_multi_index rollaxis rot90 row_stack tril_indices tril_indices_from
triu triu_indices triu_indices_from""".split())


def _own(name):
    return name in SHARED and name not in _HOST and hasattr(_onp, name)


_NUMPY_ARRAY_UFUNC_LIST = sorted(
    name for name in SHARED if _own(name) and name not in _UNCOUNTED and
    isinstance(getattr(_onp, name), _onp.ufunc))
_NUMPY_ARRAY_FUNCTION_LIST = sorted(
    name for name in SHARED if _own(name) and
    not isinstance(getattr(_onp, name), _onp.ufunc) and name not in _LEFT) + sorted(
    f"linalg.{name}" for name in _linalg.FUNCTIONS if f"linalg.{name}" not in _LEFT) + [
    "isfinite", "isinf", "isnan"]


def with_array_function_protocol(func):
    """The function itself: mx.np's arrays answer __array_function__ always."""
    return func


def with_array_ufunc_protocol(func):
    """The function itself: mx.np's arrays answer __array_ufunc__ always."""
    return func
