# SPDX-License-Identifier: Apache-2.0
"""The parameters of a block, by their full names."""
from collections import OrderedDict

import numpy as np

from .. import initializer, ndarray
from ..context import Context
from .parameter import Constant, Parameter

__all__ = ["ParameterDict"]


class ParameterDict:
    """Parameters by name: `prefix` begins each, `shared` is asked first for each.

    A parameter asked for by `get` is found here, then in `shared`, else made.
    """

    def __init__(self, prefix="", shared=None):
        self._prefix = prefix
        self._params = OrderedDict()
        self._shared = shared

    def __repr__(self):
        lines = "\n".join(f"  {each}" for each in self.values())
        name = self._prefix + " " if self._prefix else ""
        return f"{name}(\n{lines}\n)"

    def __getitem__(self, key):
        return self._params[key]

    def __contains__(self, key):
        return key in self._params

    def __iter__(self):
        return iter(self._params)

    def __len__(self):
        return len(self._params)

    def items(self):
        """Names with parameters, in the order they were made."""
        return self._params.items()

    def keys(self):
        """The full names."""
        return self._params.keys()

    def values(self):
        """The parameters."""
        return self._params.values()

    @property
    def prefix(self):
        """What each name begins with."""
        return self._prefix

    def _get_impl(self, name):
        if name not in self._params and self._shared is not None and name in self._shared:
            self._params[name] = self._shared._params[name]
        return self._params.get(name)

    def get(self, name, **kwargs):
        """The parameter `prefix + name`, made with `kwargs` (see `Parameter`) if there is none.

        Of one that exists, what `kwargs` say must agree; they complete its shape."""
        name = self.prefix + name
        param = self._get_impl(name)
        if param is None:
            param = Parameter(name, **kwargs)
            self._params[name] = param
            return param
        for key, value in kwargs.items():
            self._agree(param, key, value)
        return param

    @staticmethod
    def _agree(param, key, value):
        existing = getattr(param, key, None)
        if existing is None:
            setattr(param, key, value)
            return
        if key == "shape" and value is not None:
            value = (value,) if isinstance(value, int) else value
            if len(value) == len(existing) and all(
                    a == b or 0 in (a, b) or -1 in (a, b) for a, b in zip(value, existing)):
                param._shape = tuple(b if a in (0, -1) else a for a, b in zip(value, existing))
                return
        if key == "dtype" and value is not None:
            value, existing = np.dtype(value), np.dtype(existing)
        assert value is None or value == existing, (
            f"Parameter '{param.name}' exists with {key}={existing!r}, which {value!r} does "
            "not fit.")

    def get_constant(self, name, value=None):
        """The constant `prefix + name`, made of `value` if there is none."""
        name = self.prefix + name
        param = self._get_impl(name)
        if param is None:
            if value is None:
                raise KeyError(f"There is no constant '{name}': give its value to make it.")
            param = Constant(name, value)
            self._params[name] = param
            return param
        if value is not None:
            assert isinstance(param, Constant), f"Parameter '{name}' exists and is no constant."
            if isinstance(value, ndarray.NDArray):
                value = value.asnumpy()
            assert param.shape == value.shape and (param.value.asnumpy() == value).all(), (
                f"Constant '{name}' exists with another value.")
        return param

    def update(self, other):
        """Adds the parameters of `other`; a name must not mean two of them."""
        for name, param in other.items():
            assert self._params.get(name, param) is param, (
                f"Parameter '{name}' exists already and is another one.")
            self._params[name] = param

    def initialize(self, init=initializer.Uniform(), ctx=None, verbose=False,
                   force_reinit=False):
        """Draws all values; see `Parameter.initialize`."""
        if verbose:
            init.set_verbosity(verbose=verbose)
        for param in self.values():
            param.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self):
        """Sets all gradients to zero."""
        for param in self.values():
            param.zero_grad()

    def reset_ctx(self, ctx):
        """Moves all parameters to `ctx`."""
        for param in self.values():
            param.reset_ctx(ctx)

    def list_ctx(self):
        """All contexts that a parameter lies on, once each."""
        found = OrderedDict()
        for param in self.values():
            found.update((ctx, None) for ctx in param.list_ctx())
        return list(found)

    def setattr(self, name, value):
        """Sets an attribute, as `grad_req` or `lr_mult`, of all parameters."""
        for param in self.values():
            setattr(param, name, value)

    def save(self, filename, strip_prefix=""):
        """Writes all values to `filename`, by their names without `strip_prefix`."""
        values = {}
        for param in self.values():
            if not param.name.startswith(strip_prefix):
                raise ValueError(f"Parameter '{param.name}' does not begin with "
                                 f"'{strip_prefix}', which is to be stripped. A block that "
                                 "shares parameters has other prefixes in it: "
                                 "Block.save_parameters saves those.")
            values[param.name[len(strip_prefix):]] = param._reduce()
        ndarray.save(filename, values)

    def load(self, filename, ctx=None, allow_missing=False, ignore_extra=False,
             restore_prefix="", cast_dtype=False, dtype_source="current"):
        """Reads values from `filename`, whose names want `restore_prefix` before them."""
        for name in self.keys() if restore_prefix else ():
            assert name.startswith(restore_prefix), (
                f"Parameter '{name}' does not begin with '{restore_prefix}', which is to be "
                "restored.")
        loaded = ndarray.load(filename)
        if not isinstance(loaded, dict):
            raise ValueError(f"{filename}: arrays without names are no parameters.")
        self.load_dict(loaded, ctx, allow_missing, ignore_extra, restore_prefix, filename,
                       cast_dtype, dtype_source)

    def load_dict(self, param_dict, ctx=None, allow_missing=False, ignore_extra=False,
                  restore_prefix="", filename=None, cast_dtype=False, dtype_source="current"):
        """Takes values from a dict of arrays, by name, with or without "arg:" and "aux:"."""
        where = f"file: {filename}" if filename else "param_dict"
        values = {restore_prefix + without_kind(name): value
                  for name, value in param_dict.items()}
        if isinstance(ctx, Context):
            ctx = [ctx]
        if not allow_missing:
            for name in self.keys():
                assert name in values, (
                    f"Parameter '{name[len(restore_prefix):]}' is missing in {where}, which has "
                    f"{brief(values)}; allow_missing=True passes over it.")
        for name, value in values.items():
            if name in self._params:
                self._params[name]._load_init(value, ctx, cast_dtype, dtype_source)
            else:
                assert ignore_extra, (
                    f"Parameter '{name[len(restore_prefix):]}' of {where} is none of "
                    f"{brief(self.keys())}; ignore_extra=True passes over it.")


def without_kind(name):
    """`name` without "arg:" or "aux:" before it."""
    return name[4:] if name.startswith(("arg:", "aux:")) else name


def brief(names):
    """The first names of many, for a sentence."""
    names = list(names)
    text = ", ".join(f"'{name}'" for name in names[:8])
    return text + (f", … ({len(names)} in all)" if len(names) > 8 else "")

