# SPDX-License-Identifier: Apache-2.0
"""Initializers without chance."""

import numpy as np

from .base import Initializer, alias, bilinear_filters, register


@register
@alias("zeros")
class Zero(Initializer):
    """All elements 0."""

    def _init_weight(self, _, arr):
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """All elements 1."""

    def _init_weight(self, _, arr):
        arr[:] = 1


@register
class Constant(Initializer):
    """All elements `value`: a number, or an array of the parameter's shape."""

    def __init__(self, value):
        if hasattr(value, "asnumpy"):
            described = value.asnumpy().tolist()
        else:
            described = value.tolist() if isinstance(value, np.ndarray) else value
        super().__init__(value=described)
        self.value = value

    def _init_weight(self, _, arr):
        value = self.value
        if isinstance(value, (list, tuple)):
            value = np.asarray(value, dtype=arr.dtype)
        arr[:] = value


@register
class Bilinear(Initializer):
    """Of a transposed convolution that enlarges bilinearly."""

    def _init_weight(self, _, arr):
        arr[:] = bilinear_filters(arr.shape)


@register
class LSTMBias(Initializer):
    """0, but forget_bias for the forget gate, the second quarter."""

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, _, arr):
        hidden = arr.shape[0] // 4
        values = np.zeros(arr.shape, "float32")
        values[hidden:2 * hidden] = self.forget_bias
        arr[:] = values

    _init_bias = _init_weight
