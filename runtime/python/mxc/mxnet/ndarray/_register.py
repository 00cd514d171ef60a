# SPDX-License-Identifier: Apache-2.0
"""Functions for all operators of the table, as MXNet's users call them."""

from ..base import _Null
from ._invoke import (TABLE, _invoke, attribute_pairs, call_arrays, has_rates,
                      signature)

#: Modules of mx.nd by the beginning of operators' names.
PREFIXES = {"_contrib_": "contrib", "_linalg_": "linalg", "_sparse_": "sparse",
            "_image_": "image", "_random_": "random"}


class _Shape:
    """How a row of the table is called: its inputs, then its attributes."""

    def __init__(self, name, row):
        self.name = name
        self.inputs = row["inputs"]
        self.is_variadic = "…" in self.inputs
        self.attributes = [attribute["name"] for attribute in row["attributes"]]
        if self.is_variadic:
            self.inputs = []
            self.attributes = [attribute for attribute in self.attributes
                               if not attribute.startswith("num_arg")]

    def split(self, args, kwargs):
        """Inputs and attributes of a call."""
        from .ndarray import NDArray
        attrs = {}
        inputs = []
        names = self.inputs + self.attributes
        if self.is_variadic:
            args = self._variadic(args, inputs)
            names = self.attributes
        for position, value in enumerate(args):
            if isinstance(value, NDArray):
                inputs.append(value)
            elif position >= len(names):
                raise TypeError(f"{self.name} takes {len(names)} arguments, and "
                                f"{len(args)} are given")
            elif value is None or value is _Null:
                continue
            elif position < len(self.inputs) and not self.is_variadic:
                raise AssertionError(f"{self.name}: {names[position]} is an "
                                     f"NDArray, and {value!r} is given")
            else:
                attrs[names[position]] = value
        named = {}
        for name, value in kwargs.items():
            if isinstance(value, NDArray):
                named[name] = value
            elif value is None and name in self.inputs or value is _Null:
                continue
            else:
                attrs[name] = value
        if not self.attributes:
            attrs = {k: v for k, v in attrs.items() if k in ("ctx",)}
        if named:
            self._place(named, inputs, attrs)
        return inputs, attrs

    def _variadic(self, args, inputs):
        from .ndarray import NDArray
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = tuple(args[0])
        count = 0
        while count < len(args) and isinstance(args[count], NDArray):
            count += 1
        inputs.extend(args[:count])
        return args[count:]

    def _place(self, named, inputs, attrs):
        if all(name in self.inputs for name in named):
            order = self.inputs
        else:
            order = [row["name"] for row in
                     signature(self.name, attrs,
                               len(inputs) + len(named))["inputs"]]
        strangers = [name for name in named if name not in order]
        if strangers:
            raise TypeError(f"{self.name} has no input '{strangers[0]}'")
        inputs.extend(named[name] for name in order if name in named)


_KEPT = 256  # ways of calling a function


def _is_plain(name, attrs):
    """Whether attributes are a call's by their texts alone."""
    return "ctx" not in attrs and not has_rates(name) and not any(
        isinstance(value, (list, tuple)) and any(
            not isinstance(part, (int, float, str, type(None))) for part in value)
        for value in attrs.values())


def _function(name, row):
    from .ndarray import NDArray
    shape = _Shape(name, row)
    # Texts of attributes by how they were given, behind the inputs or by name.
    kept = {}

    def function(*args, out=None, name=None, **kwargs):
        count = 0
        while count < len(args) and type(args[count]) is NDArray:
            count += 1
        key = (count, args[count:], tuple(kwargs.items()),
               tuple(map(type, args[count:])), tuple(map(type, kwargs.values())))
        try:
            pairs = kept.get(key)
        except TypeError:  # a list
            pairs = key = None
        if pairs is not None:
            return call_arrays(shape.name, args[:count], pairs, out)
        inputs, attrs = shape.split(args, kwargs)
        if key is not None and _is_plain(shape.name, attrs) and (
                len(inputs) == count > 0):
            if len(kept) >= _KEPT:
                kept.clear()
            kept[key] = attribute_pairs(attrs)
        return _invoke(shape.name, inputs, attrs, out)

    function.__name__ = function.__qualname__ = name
    takes = ", ".join(row["inputs"] + [a["name"] for a in row["attributes"]])
    function.__doc__ = f"{row['doc']}.\n\nTakes {takes}."
    return function


def _modules():
    modules = {"": {}, "_internal": {}, **{m: {} for m in PREFIXES.values()}}
    for name, row in TABLE.items():
        function = _function(name, row)
        if not name.startswith("_"):
            modules[""][name] = function
            continue
        modules["_internal"][name] = function
        for prefix, module in PREFIXES.items():
            if name.startswith(prefix):
                modules[module][name[len(prefix):]] = function
    return modules


#: {module: {name: function}} for all of the table; "" is mx.nd itself, and
#: "_internal" has all names that begin with an underscore.
MODULES = _modules()
