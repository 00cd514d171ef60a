# SPDX-License-Identifier: Apache-2.0
"""The base of all initializers: which rule fits which name."""

import json
import logging

import numpy as np

from .. import registry


class InitDesc(str):
    """A parameter's name, with its variable's attributes `attrs` and the
    initializer that is asked where these name none."""

    def __new__(cls, name, attrs=None, global_init=None):
        description = super().__new__(cls, name)
        description.attrs = attrs or {}
        description.global_init = global_init
        return description


# The end of a name, and which method fills such an array, first match first.
_BY_SUFFIX = (("weight", "_init_weight"), ("bias", "_init_bias"),
              ("gamma", "_init_gamma"), ("beta", "_init_beta"),
              ("min", "_init_zero"), ("max", "_init_one"),
              ("weight_quantize", "_init_quantized_weight"),
              ("bias_quantize", "_init_quantized_bias"))
_LEGACY_BY_SUFFIX = (("bias", "_init_bias"), ("gamma", "_init_gamma"),
                     ("beta", "_init_beta"), ("weight", "_init_weight"),
                     ("moving_mean", "_init_zero"),
                     ("moving_var", "_init_one"),
                     ("moving_inv_var", "_init_zero"),
                     ("moving_avg", "_init_zero"), ("min", "_init_zero"),
                     ("max", "_init_one"))


class Initializer:
    """Weights by `_init_weight` of the subclass, by their names' ends: weight;
    bias, beta: 0; gamma: 1; min: 0; max: 1. Other names are an error."""

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._verbose = False
        self._print_func = None

    def set_verbosity(self, verbose=False, print_func=None):
        """verbose: each array's name, rule and print_func(array) are logged;
        its default is the root of the mean square."""
        self._verbose = verbose
        if print_func is None:
            def print_func(array):
                values = array.asnumpy()
                return str(np.linalg.norm(values) / np.sqrt(values.size))
        self._print_func = print_func
        return self

    def _verbose_print(self, desc, rule, array):
        if self._verbose and self._print_func:
            logging.info("Initialized %s as %s: %s", desc, rule,
                         self._print_func(array))

    def dumps(self):
        """The JSON text from which create() makes an equal initializer."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __eq__(self, other):
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and self._kwargs == other._kwargs

    __hash__ = object.__hash__

    def __call__(self, desc, arr):
        """Fills `arr`; desc: an InitDesc, or a name."""
        if not isinstance(desc, InitDesc):
            self._legacy_init(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get("__init__", "")
        if own:
            create(own)._init_weight(desc, arr)
            self._verbose_print(desc, own, arr)
            return
        self._by_suffix(desc, arr, _BY_SUFFIX)

    def _by_suffix(self, name, arr, rules):
        for suffix, rule in rules:
            if name.endswith(suffix):
                getattr(self, rule)(name, arr)
                self._verbose_print(name, suffix, arr)
                return
        self._init_default(name, arr)

    def _legacy_init(self, name, arr):
        if not isinstance(name, str):
            raise TypeError("the name must be a string, not "
                            f"{type(name).__name__}")
        if not hasattr(arr, "asnumpy"):
            raise TypeError("the array must be an NDArray, not "
                            f"{type(arr).__name__}")
        if name.startswith("upsampling"):
            self._init_bilinear(name, arr)
        elif name.startswith("stn_loc") and name.endswith("weight"):
            self._init_zero(name, arr)
        elif name.startswith("stn_loc") and name.endswith("bias"):
            self._init_loc_bias(name, arr)
        else:
            self._by_suffix(name, arr, _LEGACY_BY_SUFFIX)

    def _init_bilinear(self, _, arr):
        arr[:] = bilinear_filters(arr.shape)

    def _init_loc_bias(self, _, arr):
        if arr.shape[0] != 6:
            raise AssertionError("an affine transformation has 6 numbers")
        arr[:] = np.array([1.0, 0, 0, 0, 1.0, 0])

    def _init_zero(self, _, arr):
        arr[:] = 0.0

    def _init_one(self, _, arr):
        arr[:] = 1.0

    def _init_bias(self, _, arr):
        arr[:] = 0.0

    def _init_gamma(self, _, arr):
        arr[:] = 1.0

    def _init_beta(self, _, arr):
        arr[:] = 0.0

    def _init_quantized_weight(self, _, arr):
        arr[:] = np.random.randint(-127, 128, size=arr.shape, dtype="int8")

    def _init_quantized_bias(self, _, arr):
        arr[:] = np.random.randint(-127, 128, size=arr.shape, dtype="int8")

    def _init_weight(self, name, arr):
        raise NotImplementedError(f"{type(self).__name__} has no rule for "
                                  "weights")

    def _init_default(self, name, _):
        raise ValueError(
            f"no rule says how {name} begins: its name ends in none of weight, "
            "bias, gamma, beta, min, max; give the variable init=…, or use "
            "mx.init.Mixed")


def bilinear_filters(shape):
    """The weights with which a transposed convolution enlarges bilinearly."""
    width = shape[3]
    half = np.ceil(width / 2.0)
    center = (2 * half - 1 - half % 2) / (2.0 * half)
    x = 1 - np.abs(np.arange(width) / half - center)
    y = 1 - np.abs(np.arange(shape[2]) / half - center)
    return np.broadcast_to(np.outer(y, x), shape).astype("float32")


register = registry.get_register_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")
