# SPDX-License-Identifier: Apache-2.0
"""Functions that NumPy computes over the arrays' values: those of this table have no
operator, and so no gradient."""

import numpy as onp

from ..ndarray import NDArray
from ._call import on_host

# None of MXNet's users differentiates these.
_NAMES = """allclose apply_along_axis apply_over_axes argpartition argwhere array_equal
array_equiv choose compress corrcoef correlate count_nonzero cov digitize divmod extract
flatnonzero float_power fmax fmin fmod frexp gcd heaviside histogram2d
histogram_bin_edges histogramdd i0 in1d interp intersect1d isclose isin ix_ lexsort
left_shift logaddexp logaddexp2 min_scalar_type modf nanargmax nanargmin nancumprod
nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
nanvar cumprod ndim nextafter packbits partition piecewise poly polyadd polydiv polyfit
polyint polymul polysub positive promote_types ptp putmask real real_if_close result_type
right_shift roots searchsorted select setdiff1d setxor1d signbit sinc size
spacing take_along_axis trim_zeros union1d unpackbits unwrap vander isreal iscomplex
convolve tri fill_diagonal msort trapz""".split()


def _in1d(ar1, ar2, assume_unique=False, invert=False):
    return onp.isin(onp.ravel(ar1), ar2, assume_unique, invert)


def _msort(a):
    return onp.sort(a, axis=0)


# What NumPy 2 no longer has under these names.
_OTHERS = {"in1d": _in1d, "msort": _msort,
           "trapz": getattr(onp, "trapezoid", None) or getattr(onp, "trapz", None)}


def _hosted(name, numpy_function):
    def over(*args, **kwargs):
        return on_host(numpy_function, args, kwargs)
    over.__name__ = over.__qualname__ = name
    over.__doc__ = (f"np.{name}, computed by NumPy over the values; it has no gradient, "
                    "and autograd.record() refuses it where its result is real.")
    return over


FUNCTIONS = {}
for _name in _NAMES:
    _function = getattr(onp, _name, None) if _name not in _OTHERS else _OTHERS[_name]
    if _function is not None:
        FUNCTIONS[_name] = _hosted(_name, _function)


def _sharing(name):
    def over(a, b, max_work=None):
        return getattr(onp, name)(_memory(a), _memory(b), max_work)
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"np.{name}: whether elements of the two lie in the same memory."
    return over


def _memory(array):
    return array._array.memory() if isinstance(array, NDArray) else array


FUNCTIONS.update({name: _sharing(name) for name in ("shares_memory", "may_share_memory")})
