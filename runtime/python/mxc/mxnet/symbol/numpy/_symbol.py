# SPDX-License-Identifier: Apache-2.0
"""mx.sym.np's symbol: a graph's output with NumPy's names and operators."""

import numpy as onp

from ..._numpy import _functions
from ..._numpy._call import Untraceable, call
from ..._numpy._elementwise import binary, cast
from ...base import dtype_name
from ...numpy.multiarray import _BINARY, _COMPARISONS, _METHODS
from ..symbol import Symbol

_functions_of = _functions.SHARED


class _Symbol(Symbol):
    """A symbol of mx.sym.np. What operators make of it is one, too."""

    __hash__ = Symbol.__hash__

    def as_np_ndarray(self):
        """Itself."""
        return self

    def as_nd_ndarray(self):
        """The same output as a symbol of mx.sym."""
        return Symbol(self._heads)

    def __getitem__(self, key):
        """One of several outputs by its number or name; of one output the part that
        numbers and slices say. Other keys need values: a hybridized block that uses them
        runs operator by operator."""
        if len(self._heads) > 1 or isinstance(key, str):
            return super().__getitem__(key)
        return _part(self, key if isinstance(key, tuple) else (key,))

    def __iter__(self):
        if len(self._heads) == 1:
            raise TypeError("a symbol of one output has no items")
        return super().__iter__()

    def reshape(self, *shape, order="C", **kwargs):
        """Another shape, of which one extent may be -1."""
        shape = kwargs.pop("newshape", kwargs.pop("shape", shape))
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        return _functions_of["reshape"](self, tuple(shape), order=order)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """Its values in another type."""
        if (order, casting, subok) != ("K", "unsafe", True):
            raise NotImplementedError("astype takes no order, casting or subok but NumPy's "
                                      "defaults")
        return cast(self, dtype_name(dtype))

    def transpose(self, *axes):
        """Its axes in another order; without one, the other way round."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = axes[0]
        return _functions_of["transpose"](self, axes or None)

    @property
    def T(self):
        """Its axes the other way round."""
        return self.transpose()

    def flatten(self, order="C"):
        """Its elements along one axis."""
        return _functions_of["ravel"](self)

    def copy(self, order="C"):
        """The same values."""
        return call("_np_copy", [self])

    def __neg__(self):
        return _functions_of["negative"](self)

    def __abs__(self):
        return _functions_of["absolute"](self)

    def __invert__(self):
        return _functions_of["bitwise_not"](self)

    def __matmul__(self, other):
        return _functions_of["matmul"](self, other)


def _part(symbol, key):
    begin, end, step, dropped, added = [], [], [], [], []
    if any(part is Ellipsis for part in key[:-1]):
        raise Untraceable("a symbol's axes are not known: `...` is the last of a key")
    place = 0
    for part in key:
        if part is None:
            added.append(place)
            place += 1
        elif isinstance(part, slice):
            begin.append(part.start)
            end.append(part.stop)
            step.append(part.step)
            place += 1
        elif isinstance(part, (int, onp.integer)) and not isinstance(part, bool):
            dropped.append(len(begin))
            begin.append(int(part))
            end.append(int(part) + 1 if part != -1 else None)
            step.append(None)
        elif part is not Ellipsis:
            raise Untraceable(f"a symbol has no values for a key of {type(part).__name__}")
    if any(b is not None or e is not None or s is not None
           for b, e, s in zip(begin, end, step)):
        symbol = call("_npi_slice", [symbol], {"begin": tuple(begin), "end": tuple(end),
                                               "step": tuple(step)})
    if dropped:
        symbol = call("_np_squeeze", [symbol], {"axis": tuple(dropped)})
    for axis in added:
        symbol = call("_npi_expand_dims", [symbol], {"axis": axis})
    return symbol


def _operator(name, swapped=False):
    def method(self, other):
        return binary(name, other, self) if swapped else binary(name, self, other)
    return method


def _method(name):
    function = _functions_of[name]

    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"np.{name} of it."
    return method


for _short, _long in _BINARY.items():
    setattr(_Symbol, f"__{_short}__", _operator(_long))
    setattr(_Symbol, f"__r{_short}__", _operator(_long, swapped=True))
for _short, _long in _COMPARISONS.items():
    setattr(_Symbol, f"__{_short}__", _operator(_long))
for _name in _METHODS:
    setattr(_Symbol, _name, _method(_name))
