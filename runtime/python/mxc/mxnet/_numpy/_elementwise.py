# SPDX-License-Identifier: Apache-2.0
"""Functions of each element: of one array, and of two that are broadcast."""

import numpy as onp

from ..ndarray import NDArray
from ..ndarray._arithmetic import scalar_array
from ..symbol import Symbol
from ._call import NUMBERS, as_array, call, function, is_empty, on_host

_FLOATS = ("float16", "float32", "float64")

# Functions of one array whose operators have their names behind _npi_, and those
# that are other functions' names.
_UNARY = """abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh
degrees exp expm1 fix floor log log10 log1p log2 negative radians reciprocal rint sign sin
sinh sqrt square tan tanh trunc bitwise_not isfinite isinf isnan isneginf isposinf
logical_not""".split()
_UNARY_ALIASES = {"deg2rad": "radians", "rad2deg": "degrees", "fabs": "absolute",
                  "invert": "bitwise_not"}

# Functions of two: operator, then the one with a number at its right, and at its left.
_BINARY = {
    "add": ("_npi_add", "_npi_add_scalar", "_npi_add_scalar"),
    "subtract": ("_npi_subtract", "_npi_subtract_scalar", "_npi_rsubtract_scalar"),
    "multiply": ("_npi_multiply", "_npi_multiply_scalar", "_npi_multiply_scalar"),
    "true_divide": ("_npi_true_divide", "_npi_true_divide_scalar",
                    "_npi_rtrue_divide_scalar"),
    "mod": ("_npi_mod", "_npi_mod_scalar", "_npi_rmod_scalar"),
    "power": ("_npi_power", "_npi_power_scalar", "_npi_rpower_scalar"),
    "maximum": ("_npi_maximum", "_npi_maximum_scalar", "_npi_maximum_scalar"),
    "minimum": ("_npi_minimum", "_npi_minimum_scalar", "_npi_minimum_scalar"),
    "hypot": ("_npi_hypot", "_npi_hypot_scalar", "_npi_hypot_scalar"),
    "arctan2": ("_npi_arctan2", "_npi_arctan2_scalar", "_npi_rarctan2_scalar"),
    "copysign": ("_npi_copysign", "_npi_copysign_scalar", "_npi_rcopysign_scalar"),
    "ldexp": ("_npi_ldexp", "_npi_ldexp_scalar", "_npi_rldexp_scalar"),
    "lcm": ("_npi_lcm", "_npi_lcm_scalar", "_npi_lcm_scalar"),
    "bitwise_and": ("_npi_bitwise_and", *["_npi_bitwise_and_scalar"] * 2),
    "bitwise_or": ("_npi_bitwise_or", *["_npi_bitwise_or_scalar"] * 2),
    "bitwise_xor": ("_npi_bitwise_xor", *["_npi_bitwise_xor_scalar"] * 2),
    "equal": ("_npi_equal", *["_npi_equal_scalar"] * 2),
    "not_equal": ("_npi_not_equal", *["_npi_not_equal_scalar"] * 2),
    "greater": ("_npi_greater", "_npi_greater_scalar", "_npi_less_scalar"),
    "greater_equal": ("_npi_greater_equal", "_npi_greater_equal_scalar",
                      "_npi_less_equal_scalar"),
    "less": ("_npi_less", "_npi_less_scalar", "_npi_greater_scalar"),
    "less_equal": ("_npi_less_equal", "_npi_less_equal_scalar",
                   "_npi_greater_equal_scalar"),
}
_BINARY_ALIASES = {"divide": "true_divide", "remainder": "mod"}
_COMPARISONS = {"equal", "not_equal", "greater", "greater_equal", "less", "less_equal"}
#: Those whose number may be an operand of the operator itself.
_TYPE_KEEPING = {"add", "subtract", "multiply", "true_divide", "mod", "power", "maximum",
                 "minimum"}


def promoted(a, b):
    """The type that results from types a and b, by name: the wider real one, where
    there is one, or the wider whole one."""
    if a == b:
        return a
    kinds = [name for name in (a, b) if name in _FLOATS]
    if kinds:
        return max(kinds, key=_FLOATS.index)
    if "bool" in (a, b):
        return b if a == "bool" else a
    return onp.promote_types(onp.promote_types(a, b), "int32" if "u" in a + b
                             else "int8").name


def cast(array, dtype):
    """The array in the type, itself where it is its own."""
    if not isinstance(array, Symbol) and array._array.dtype == dtype:
        return array
    return call("_npi_cast", [array], {"dtype": dtype})


def _unary(name):
    operator = f"_npi_{_UNARY_ALIASES.get(name, name)}"
    numpy_function = getattr(onp, name)

    def over(x, out=None, **kwargs):
        _without_options(name, kwargs)
        if isinstance(x, (NDArray, Symbol)):
            return call(operator, [x], None, out)
        if isinstance(x, NUMBERS):
            return numpy_function(x)
        raise TypeError(f"np.{name} takes an array or a number, found "
                        f"{type(x).__name__}")
    return _named(over, name, f"{name} of each element of `x`.")


# NumPy's options of ufuncs: the value that is taken, then those that are known.
_TYPES = map(onp.dtype, ("float16", "float32", "float64", "int8", "int32", "int64"))
_OPTIONS = {"where": (True,), "subok": (True,), "order": ("K",), "dtype": (None, *_TYPES),
            "casting": ("same_kind", "no", "equiv", "safe", "unsafe")}


def _without_options(name, kwargs):
    for option, value in kwargs.items():
        known = _OPTIONS.get(option)
        if known is None or option in ("casting", "dtype") and value not in known:
            raise TypeError(f"np.{name} does not take {option}={value!r}")
        if value != known[0]:
            raise NotImplementedError(f"np.{name} does not take {option}={value!r}, only "
                                      f"{known[0]!r}")


def _named(over, name, doc):
    over.__name__ = over.__qualname__ = name
    over.__doc__ = doc
    return over


def _alike(name, a, b):
    """Both arrays in one type, where the operator does not see to it itself."""
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return a, b
    first, second = a._array.dtype, b._array.dtype
    if first == second:
        return a, b
    dtype = promoted(first, second)
    if name == "ldexp":
        dtype = first if first in _FLOATS else "float32"
    if name == "true_divide" and dtype not in _FLOATS:
        dtype = "float32"
    return cast(a, dtype), cast(b, dtype)


def _with_number(name, operators, array, number, reverse, out):
    kind = None if isinstance(array, Symbol) else array._array.dtype
    if kind == "bool" and name not in _COMPARISONS and not name.startswith("bitwise"):
        array, kind = cast(array, "int64"), "int64"
    whole = isinstance(number, (int, onp.integer, onp.bool_))
    if kind and name in _TYPE_KEEPING and (kind in _FLOATS or whole):
        other = array._new(scalar_array(number, kind))
        pair = [other, array] if reverse else [array, other]
        return call(operators[0], pair, None, out)
    if kind and not whole and kind not in _FLOATS and name in _COMPARISONS:
        array = cast(array, "float64")
    if kind and kind not in _FLOATS and name in ("hypot", "arctan2", "copysign", "ldexp"):
        array = cast(array, "float32")
    number = int(number) if whole else float(number)
    return call(operators[2 if reverse else 1], [array],
                {"scalar": number, "is_int": True}, out)


def binary(name, a, b, out=None):
    """The function `name` of two arrays, symbols or numbers."""
    operators = _BINARY[_BINARY_ALIASES.get(name, name)]
    name = _BINARY_ALIASES.get(name, name)
    if isinstance(a, onp.ndarray):
        a = as_array(a)
    if isinstance(b, onp.ndarray):
        b = as_array(b)
    is_first, is_second = (isinstance(value, (NDArray, Symbol)) for value in (a, b))
    if is_first and is_second:
        return call(operators[0], _alike(name, a, b), None, out)
    if is_first and isinstance(b, NUMBERS):
        return _with_number(name, operators, a, b, False, out)
    if is_second and isinstance(a, NUMBERS):
        return _with_number(name, operators, b, a, True, out)
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
        return getattr(onp, name)(a, b)
    raise TypeError(f"np.{name} takes arrays and numbers, found {type(a).__name__} and "
                    f"{type(b).__name__}")


def _binary(name):
    def over(x1, x2, out=None, **kwargs):
        _without_options(name, kwargs)
        return binary(name, x1, x2, out)
    return _named(over, name, f"{name} of two arrays, which are broadcast, or of one and "
                  "a number.")


FUNCTIONS = {name: _unary(name) for name in (*_UNARY, *_UNARY_ALIASES)}
FUNCTIONS.update({name: _binary(name) for name in (*_BINARY, *_BINARY_ALIASES)})


@function(onp.round)
def around(x, decimals=0, out=None, **kwargs):
    """Each element to so many digits behind the point, halves to even."""
    return call("_npi_around", [x], {"decimals": decimals}, out)


def _clip_of_numpy(a, a_min=None, a_max=None, min=None, max=None):
    # NumPy 1 has no `min` and `max`.
    return onp.clip(a, min if a_min is None else a_min, max if a_max is None else a_max)


@function(_clip_of_numpy)
def clip(a, a_min=None, a_max=None, out=None, min=None, max=None):
    """Elements below `a_min` (or `min`) become it, those above `a_max` that; None: no
    bound."""
    a_min = min if a_min is None else a_min
    a_max = max if a_max is None else a_max
    if a_min is None and a_max is None:
        raise ValueError("np.clip: one of a_min and a_max is needed")
    if isinstance(a, NUMBERS):
        return onp.clip(a, a_min, a_max)
    if any(isinstance(bound, (NDArray, Symbol)) for bound in (a_min, a_max)):
        a = a if a_min is None else binary("maximum", a, a_min)
        return a if a_max is None else binary("minimum", a, a_max, out)
    return call("_npi_clip", [a], {
        "a_min": float("-inf") if a_min is None else float(a_min),
        "a_max": float("inf") if a_max is None else float(a_max)}, out)


@function()
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None, **kwargs):
    """NaN and infinities become numbers; copy=False: in `x` itself."""
    if isinstance(x, NUMBERS):
        return onp.nan_to_num(x, copy, nan, posinf, neginf)
    if not isinstance(x, Symbol) and x._array.dtype not in _FLOATS:
        return x.copy() if copy else x
    attrs = {"copy": copy, "nan": float(nan)}
    if posinf is not None:
        attrs["posinf"] = float(posinf)
    if neginf is not None:
        attrs["neginf"] = float(neginf)
    return call("_npi_nan_to_num", [x], attrs,
                x if not copy and isinstance(x, NDArray) else None)


def _in_steps(name, steps):
    def method(x1, x2, out=None):
        if is_empty(x1) or is_empty(x2):
            return on_host(getattr(onp, name), (x1, x2), {"out": out}, False)
        return steps(x1, x2)
    method.__name__ = name
    method.__doc__ = f"{name} of two arrays, or of one and a number."
    return method


FUNCTIONS.update(
    around=around, round=around, round_=around, clip=clip, nan_to_num=nan_to_num,
    floor_divide=_in_steps("floor_divide", lambda a, b: FUNCTIONS["floor"](
        binary("true_divide", a, b))),
    logical_and=_in_steps("logical_and", lambda a, b: binary(
        "bitwise_and", binary("not_equal", a, 0), binary("not_equal", b, 0))),
    logical_or=_in_steps("logical_or", lambda a, b: binary(
        "bitwise_or", binary("not_equal", a, 0), binary("not_equal", b, 0))),
    logical_xor=_in_steps("logical_xor", lambda a, b: binary(
        "bitwise_xor", binary("not_equal", a, 0), binary("not_equal", b, 0))))
