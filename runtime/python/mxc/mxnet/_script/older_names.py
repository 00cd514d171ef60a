# SPDX-License-Identifier: Apache-2.0
"""Names that Python 3.8 and NumPy 1.23 had, where they are gone."""

import collections
import collections.abc
import functools
import inspect
import math
import time

import numpy as np

_NUMPY_TYPES = {"bool": bool, "int": int, "float": float, "complex": complex,
                "object": object, "str": str, "long": int, "unicode": str,
                "float_": np.float64, "complex_": np.complex128, "int0": np.intp,
                "string_": np.bytes_, "unicode_": np.str_, "Inf": np.inf,
                "Infinity": np.inf, "infty": np.inf, "PINF": np.inf,
                "NINF": -np.inf, "NaN": np.nan, "NAN": np.nan,
                "PZERO": 0.0, "NZERO": -0.0}
_NUMPY_FUNCTIONS = {"product": "prod", "cumproduct": "cumprod", "sometrue": "any",
                    "alltrue": "all", "round_": "round", "row_stack": "vstack",
                    "trapz": "trapezoid", "in1d": "isin"}


def _asscalar(a):
    return a.item()


def _asfarray(a, dtype=np.float64):
    return np.asarray(a, dtype=dtype if np.issubdtype(dtype, np.inexact) else
                      np.float64)


def _msort(a):
    return np.sort(a, axis=0)


def _fromstring_of(of_text):
    """numpy.fromstring with its mode of bytes (sep=""), which later ones lack."""
    def fromstring(string, dtype=float, count=-1, sep="", **kwargs):
        if sep:
            return of_text(string, dtype=dtype, count=count, sep=sep, **kwargs)
        if isinstance(string, str):
            string = string.encode("latin1")
        return np.frombuffer(string, dtype=dtype, count=count).copy()
    return fromstring


def _random_integers(low, high=None, size=None):
    return np.random.randint(*((1, low + 1) if high is None else (low, high + 1)),
                             size=size)


def _interpolating(by_method):
    """numpy.percentile or quantile with `interpolation`, which is `method` later."""
    @functools.wraps(by_method)
    def function(*args, interpolation=None, **kwargs):
        if interpolation is not None:
            kwargs["method"] = interpolation
        return by_method(*args, **kwargs)
    return function


def _missing(module, names):
    for name, value in names.items():
        try:
            there = name in vars(module)
        except TypeError:
            there = hasattr(module, name)
        if not there:
            setattr(module, name, value)


def _getargspec(function):
    found = inspect.getfullargspec(function)
    fields = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
    return fields(found.args, found.varargs, found.varkw, found.defaults)


def install():
    """Adds what is missing; what is there stays, or takes what it once took."""
    _missing(np, _NUMPY_TYPES)
    _missing(np, {name: getattr(np, of) for name, of in _NUMPY_FUNCTIONS.items()
                  if hasattr(np, of)})
    _missing(np, {"asscalar": _asscalar, "asfarray": _asfarray, "msort": _msort})
    np.fromstring = _fromstring_of(np.fromstring)
    if "interpolation" not in inspect.signature(np.percentile).parameters:
        np.percentile = _interpolating(np.percentile)
        np.quantile = _interpolating(np.quantile)
    _missing(np.random, {"random_integers": _random_integers})
    _missing(collections, {name: getattr(collections.abc, name)
                           for name in collections.abc.__all__})
    _missing(inspect, {"getargspec": _getargspec})
    _missing(time, {"clock": time.perf_counter})
    import fractions
    _missing(fractions, {"gcd": math.gcd})
