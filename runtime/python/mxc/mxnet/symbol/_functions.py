# SPDX-License-Identifier: Apache-2.0
"""Functions whose arguments are not those of their operators."""

import numpy as np

from ._compose import create


def zeros(shape, dtype=None, **kwargs):
    """A symbol of zeros."""
    return _filled("_zeros", shape, dtype, kwargs)


def ones(shape, dtype=None, **kwargs):
    """A symbol of ones."""
    return _filled("_ones", shape, dtype, kwargs)


def full(shape, val, dtype=None, **kwargs):
    """A symbol whose elements are all `val`."""
    return _filled("_full", shape, dtype, {"value": float(val), **kwargs})


def _filled(name, shape, dtype, kwargs):
    return create(name, name, (), {"shape": shape,
                                   "dtype": dtype or np.float32, **kwargs})


def eye(N, M=0, k=0, dtype=None, **kwargs):
    """Ones on the k-th diagonal of an N × M matrix (M = 0: N × N)."""
    return create("_eye", "_eye", (), {"N": N, "M": M, "k": k,
                                       "dtype": dtype or np.float32, **kwargs})


def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, name=None,
           dtype=None):
    """From start to before stop, each `repeat` times. infer_range: as many as
    the shape that others ask for."""
    return create("_arange", "_arange", (), {
        "start": start, "stop": stop, "step": step, "repeat": repeat,
        "infer_range": infer_range, "name": name, "dtype": dtype or np.float32})


def linspace(start, stop, num, endpoint=True, name=None, dtype=None):
    """`num` equally spaced numbers."""
    return create("_linspace", "_linspace", (), {
        "start": start, "stop": stop, "num": num, "endpoint": endpoint,
        "name": name, "dtype": dtype or np.float32})


def histogram(a, bins=10, range=None, **kwargs):
    """Counts and edges, of a number of bins within a range or of given edges."""
    from .symbol import Symbol
    if isinstance(bins, Symbol):
        return create("_histogram", "_histogram", (a, bins), kwargs)
    if not isinstance(bins, int):
        raise ValueError(f"bins is {type(bins).__name__}, expected a number or a "
                         "symbol of edges")
    if range is None:
        raise ValueError("of a number of bins the range has to be given")
    return create("_histogram", "_histogram", (a,),
                  {"bin_cnt": bins, "range": range, **kwargs})


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False, **kwargs):
    """Cuts an axis into equal parts, or before the given indices."""
    given = {"axis": axis, "squeeze_axis": squeeze_axis, **kwargs}
    if isinstance(indices_or_sections, int):
        given.update(indices=(), sections=indices_or_sections)
    elif isinstance(indices_or_sections, (tuple, list)):
        given["indices"] = (0, *indices_or_sections)
    else:
        raise ValueError("indices_or_sections is "
                         f"{type(indices_or_sections).__name__}, expected a "
                         "number of parts or where to cut")
    return create("_split_v2", "_split_v2", (ary,), given)


def concat(*data, **kwargs):
    """Joins symbols along the axis `dim`."""
    return create("Concat", "concat", data, kwargs)
