# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and comparison of symbols with symbols and numbers."""

from numbers import Number

from ._compose import create


def _binary(lhs, rhs, name, scalar, reverse=None):
    """The operator `name` of two symbols, `scalar` of a symbol and a number,
    `reverse` of a number and a symbol (None: the sides are equal)."""
    from .symbol import Symbol
    if isinstance(lhs, Symbol):
        if isinstance(rhs, Symbol):
            return create(name, name, (lhs, rhs), {})
        if isinstance(rhs, Number):
            return create(scalar, scalar, (lhs,), {"scalar": rhs})
        raise TypeError(f"type {type(rhs)} not supported")
    if isinstance(rhs, Symbol) and isinstance(lhs, Number):
        other = reverse or scalar
        return create(other, other, (rhs,), {"scalar": lhs})
    raise TypeError(f"types ({type(lhs)}, {type(rhs)}) not supported")


def _method(name, scalar):
    def method(self, other):
        return _binary(self, other, name, scalar)
    return method


def _reverse(scalar):
    def method(self, other):
        if not isinstance(other, Number):
            raise TypeError(f"type {type(other)} not supported")
        return create(scalar, scalar, (self,), {"scalar": other})
    return method


def _refused(name):
    def method(self, other):
        raise self._not_implemented(name)
    return method


class Arithmetic:
    """The operators of Python for symbols; results are new symbols."""

    __add__ = _method("_Plus", "_PlusScalar")
    __radd__ = _reverse("_PlusScalar")
    __sub__ = _method("_Minus", "_MinusScalar")
    __rsub__ = _reverse("_RMinusScalar")
    __mul__ = _method("_Mul", "_MulScalar")
    __rmul__ = _reverse("_MulScalar")
    __truediv__ = __div__ = _method("_Div", "_DivScalar")
    __rtruediv__ = __rdiv__ = _reverse("_RDivScalar")
    __mod__ = _method("_Mod", "_ModScalar")
    __rmod__ = _reverse("_RModScalar")
    __pow__ = _method("_Power", "_PowerScalar")
    __rpow__ = _reverse("_rpower_scalar")
    __eq__ = _method("_equal", "_equal_scalar")
    __ne__ = _method("_not_equal", "_not_equal_scalar")
    __gt__ = _method("_greater", "_greater_scalar")
    __ge__ = _method("_greater_equal", "_greater_equal_scalar")
    __lt__ = _method("_lesser", "_lesser_scalar")
    __le__ = _method("_lesser_equal", "_lesser_equal_scalar")
    __hash__ = object.__hash__

    __iadd__ = _refused("+=")
    __isub__ = _refused("-=")
    __imul__ = _refused("*=")
    __itruediv__ = __idiv__ = _refused("/=")
    __imod__ = _refused("%=")

    def __neg__(self):
        return create("_MulScalar", "_mulscalar", (self,), {"scalar": -1.0})

    def __abs__(self):
        return create("abs", "abs", (self,), {})


def pow(base, exp):
    """base ** exp, of symbols and numbers."""
    if isinstance(base, Number) and isinstance(exp, Number):
        return base ** exp
    return _binary(base, exp, "_Power", "_PowerScalar", "_RPowerScalar")


power = pow


def maximum(left, right):
    """The larger element; of symbols and numbers."""
    if isinstance(left, Number) and isinstance(right, Number):
        return max(left, right)
    return _binary(left, right, "_Maximum", "_MaximumScalar")


def minimum(left, right):
    """The smaller element; of symbols and numbers."""
    if isinstance(left, Number) and isinstance(right, Number):
        return min(left, right)
    return _binary(left, right, "_Minimum", "_MinimumScalar")


def hypot(left, right):
    """√(left² + right²); of symbols and numbers."""
    if isinstance(left, Number) and isinstance(right, Number):
        return (left * left + right * right) ** 0.5
    return _binary(left, right, "_Hypot", "_HypotScalar")
