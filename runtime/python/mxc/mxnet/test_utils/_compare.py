# SPDX-License-Identifier: Apache-2.0
"""Whether arrays are equal, within the tolerances that their types have."""

import numpy as np

from ..ndarray import NDArray

_RTOL = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-5}
_ATOL = {"float16": 1e-1, "float32": 1e-3, "float64": 1e-20}
_EPS = {"float16": 2.0**-6, "float32": 2.0**-9, "float64": 2.0**-14}
_WHOLE = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")


def _by_type(table):
    return {np.dtype(name): table.get(name, 0) for name in (*table, *_WHOLE)}


def default_rtols():
    """Relative tolerances by element type."""
    return _by_type(_RTOL)


def default_atols():
    """Absolute tolerances by element type."""
    return _by_type(_ATOL)


def default_numeric_eps():
    """Steps of numeric gradients by element type."""
    return {np.dtype(name): eps for name, eps in _EPS.items()}


def effective_dtype(dat):
    """The type whose tolerances hold for an array."""
    return np.dtype(dat.dtype)


def get_tolerance(dat, tol, default_tol):
    """`tol`, or else that of the array's type."""
    return default_tol[effective_dtype(dat)] if tol is None else tol


def get_tols(x, y, rtol, atol):
    """Relative and absolute tolerance: those given, or else the larger of the two
    types'."""
    def of(tol, table):
        if tol is not None:
            return tol
        found = [table.get(np.dtype(getattr(value, "dtype", "float64")), 0)
                 for value in (x, y)]
        return max(found)
    return of(rtol, default_rtols()), of(atol, default_atols())


def get_atol(atol=None, dtype=np.dtype(np.float64)):
    """`atol`, or else the type's."""
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_rtol(rtol=None, dtype=np.dtype(np.float64)):
    """`rtol`, or else the type's."""
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_etol(etol=None):
    """`etol`, or else 0: the share of elements that may differ."""
    return 0 if etol is None else etol


def _plain(value):
    return value.asnumpy() if isinstance(value, NDArray) else value


def same(a, b):
    """Whether all elements are equal."""
    return np.array_equal(_plain(a), _plain(b))


def same_array(array1, array2):
    """Whether two arrays have one memory; writes to it."""
    array1[:] += 1
    if not same(array1, array2):
        array1[:] -= 1
        return False
    array1[:] -= 1
    return same(array1, array2)


def checkShapes(a, b):
    """Raises AssertionError where the shapes differ."""
    if a.shape != b.shape:
        raise AssertionError(f"the shapes {a.shape} and {b.shape} differ\n ACTUAL: {a!r}\n"
                             f" DESIRED: {b!r}")


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, use_broadcast=True):
    """Whether |a - b| <= atol + rtol |b| everywhere."""
    a, b = _plain(a), _plain(b)
    if not use_broadcast:
        checkShapes(a, b)
    return all(np.allclose(part, other, rtol=get_rtol(rtol), atol=get_atol(atol),
                           equal_nan=equal_nan) for part, other in _parts(a, b))


def locationError(a, b, index, names, maxError=False):
    """Where two arrays differ, as a line."""
    what = "maximum error" if maxError else "error"
    return (f"Location of {what}: {index}, {names[0]}={a[index]:.8f}, "
            f"{names[1]}={b[index]:.8f}")


# Comparing takes some arrays as large as both: of so many elements at a time.
_PART = 1 << 24


def _parts(a, b):
    """The two arrays; large ones in flat parts."""
    if np.shape(a) != np.shape(b) or np.size(a) <= _PART:
        yield a, b
        return
    a, b = np.ravel(a), np.ravel(b)
    for begin in range(0, a.size, _PART):
        yield a[begin:begin + _PART], b[begin:begin + _PART]


def _violations(a, b, rtol, atol, equal_nan):
    """How many times the tolerance each element differs."""
    a, b = (np.asarray(value) for value in np.broadcast_arrays(a, b))
    with np.errstate(all="ignore"):
        difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
        allowed = atol + rtol * np.abs(b.astype(np.float64))
        error = difference / (allowed + 1e-20)
    error = np.where(a == b, 0.0, error)
    if equal_nan:
        error = np.where(np.isnan(a.astype(np.float64)) &
                         np.isnan(b.astype(np.float64)), 0.0, error)
    return a, b, np.where(np.isnan(error), np.inf, error)


def _fail(a, b, rtol, atol, names, equal_nan, mismatches):
    if not hasattr(a, "shape") or not np.shape(a):
        raise AssertionError(f"not equal: {a!r} and {b!r} differ by more than "
                             f"rtol={rtol:e}, atol={atol:e}")
    left, right, error = _violations(a, b, rtol, atol, equal_nan)
    order = np.argsort(-error, axis=None)[:max(1, mismatches[0])]
    share = 100.0 * np.count_nonzero(error > 1) / error.size
    places = [tuple(int(i) for i in np.unravel_index(place, error.shape))
              for place in order]
    print(f"\nOf {error.size} elements these differ most (rtol={rtol}, atol={atol}):")
    for number, place in enumerate(places[:mismatches[1]], 1):
        if error[place] > 1:
            print(f"{number:3d}: Error {error[place]:f}  "
                  + locationError(left, right, place, names))
    raise AssertionError(
        f"\nNot equal: {error[places[0]]:f} times what rtol={rtol:e} and atol={atol:e} "
        f"allow; {share:f} % of the elements differ by more.\n"
        + locationError(left, right, places[0], names, maxError=True)
        + f"\n ACTUAL: {a!r}\n DESIRED: {b!r}")


def assert_almost_equal(a, b, rtol=None, atol=None, names=("a", "b"), equal_nan=False,
                        use_broadcast=True, mismatches=(10, 10)):
    """Raises AssertionError, which says where, unless |a - b| <= atol + rtol |b|.
    Tolerances that are not given are those of the types."""
    if not use_broadcast:
        checkShapes(a, b)
    rtol, atol = get_tols(a, b, rtol, atol)
    for part, other in _parts(_plain(a), _plain(b)):
        if not np.allclose(part, other, rtol=rtol, atol=atol, equal_nan=equal_nan):
            _fail(part, other, rtol, atol, names, equal_nan, mismatches)


def assert_allclose(a, b, rtol=1e-07, atol=0, equal_nan=True):
    """The same with NumPy's tolerances."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal_with_err(a, b, rtol=None, atol=None, etol=None,
                                 names=("a", "b"), equal_nan=False, mismatches=(10, 10)):
    """The same, but a share `etol` of the elements may differ."""
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _plain(a), _plain(b)
    share = get_etol(etol)
    if share > 0:
        close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if np.count_nonzero(~close) <= share * np.size(close):
            return
        _fail(a, b, rtol, atol, names, equal_nan, mismatches)
    assert_almost_equal(a, b, rtol, atol, names, equal_nan, True, mismatches)


def assert_almost_equal_ignore_nan(a, b, rtol=None, atol=None, names=("a", "b")):
    """The same, but for elements that are NaN in one of the two."""
    a, b = np.copy(_plain(a)), np.copy(_plain(b))
    either = np.isnan(a) | np.isnan(b)
    a[either] = b[either] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_exception(f, exception_type, *args, **kwargs):
    """Raises AssertionError unless the call raises this type."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{f} did not raise {exception_type.__name__}")


def compare_ndarray_tuple(t1, t2, rtol=None, atol=None):
    """Asserts that arrays in nested tuples are almost equal; None equals anything."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for s1, s2 in zip(t1, t2):
            compare_ndarray_tuple(s1, s2, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)
