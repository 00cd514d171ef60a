# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions and ufuncs of mx.np's arrays: those of mx.np, where it has them,
else NumPy's own over the values."""

import numpy as onp

from .._numpy import _linalg
from .._numpy._call import as_array, on_host
from .._numpy._functions import SHARED


# Those that give tuples in the NumPy that is here, and lists in mx.np.
_TUPLES = {name for name in ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays",
                             "meshgrid")
           if isinstance(getattr(onp, name)(onp.ones(1), onp.ones(1)), tuple)}


def _ours(numpy_function):
    module = getattr(numpy_function, "__module__", "") or ""
    table = _linalg.FUNCTIONS if module.startswith("numpy.linalg") else SHARED
    return table.get(numpy_function.__name__)


def function(numpy_function, args, kwargs):
    """__array_function__."""
    ours = _ours(numpy_function)
    if ours is None:
        return on_host(numpy_function, args, kwargs)
    try:
        result = ours(*args, **kwargs)
        return tuple(result) if numpy_function.__name__ in _TUPLES and isinstance(
            result, list) else result
    except TypeError:  # Options that only NumPy has.
        return on_host(numpy_function, args, kwargs)


def ufunc(numpy_ufunc, method, inputs, kwargs):
    """__array_ufunc__; methods as reduce are NumPy's own."""
    if "out" in kwargs and len(kwargs["out"]) == 1:
        kwargs["out"] = kwargs["out"][0]
    ours = SHARED.get(numpy_ufunc.__name__)
    if method != "__call__" or ours is None:
        return on_host(getattr(numpy_ufunc, method), inputs, kwargs)
    return ours(*[as_array(value) if hasattr(value, "__array__") else value
                  for value in inputs], **kwargs)
