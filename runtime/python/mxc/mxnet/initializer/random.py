# SPDX-License-Identifier: Apache-2.0
"""Initializers that draw, from the generator that mx.random.seed sets."""

import numpy as np

from .. import ndarray
from ..base import dtype_name
from .base import Initializer, register


def _uniform(scale, arr):
    """Fills `arr` with draws between −scale and scale."""
    ndarray._invoke("_random_uniform", [], {
        "low": float(-scale), "high": float(scale), "shape": arr.shape,
        "dtype": dtype_name(arr.dtype)}, arr)


def _normal(sigma, arr):
    """Fills `arr` with normally distributed draws around 0."""
    ndarray._invoke("_random_normal", [], {
        "loc": 0.0, "scale": float(sigma), "shape": arr.shape,
        "dtype": dtype_name(arr.dtype)}, arr)


@register
class Uniform(Initializer):
    """Between −scale and scale."""

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        _uniform(self.scale, arr)


@register
class Normal(Initializer):
    """Normally distributed with mean 0 and standard deviation sigma."""

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        _normal(self.sigma, arr)


@register
class Orthogonal(Initializer):
    """`scale` times a matrix (shape[0] rows) with orthonormal rows or columns,
    of the decomposition of one drawn "uniform" or "normal"."""

    def __init__(self, scale=1.414, rand_type="uniform"):
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, _, arr):
        shape = (arr.shape[0], int(np.prod(arr.shape[1:])))
        matrix = ndarray.empty(shape)
        if self.rand_type == "uniform":
            _uniform(1.0, matrix)
        elif self.rand_type == "normal":
            _normal(1.0, matrix)
        else:
            raise ValueError("rand_type is uniform or normal, not "
                             f"{self.rand_type!r}")
        drawn = matrix.asnumpy()
        left, _, right = np.linalg.svd(drawn, full_matrices=False)
        found = left if left.shape == shape else right
        arr[:] = (self.scale * found).reshape(arr.shape)


@register
class Xavier(Initializer):
    """Keeps the scale of what layers pass on (Glorot and Bengio, 2010).

    rnd_type: "uniform" within ±s or "gaussian" of deviation s, where s =
    √(magnitude / factor). factor_type: the factor is the number of inputs
    ("in"), of outputs ("out"), or their mean ("avg"), of a weight (outputs,
    inputs, window…).
    """

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type,
                         magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name, arr):
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(f"Xavier: {name} has shape {shape}, expected 2 axes "
                             "or more")
        window = float(np.prod(shape[2:]))
        factors = {"in": shape[1] * window, "out": shape[0] * window}
        factors["avg"] = (factors["in"] + factors["out"]) / 2.0
        if self.factor_type not in factors:
            raise ValueError(f"factor_type is in, out or avg, not {self.factor_type!r}")
        scale = np.sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            _uniform(scale, arr)
        elif self.rnd_type == "gaussian":
            _normal(scale, arr)
        else:
            raise ValueError(f"rnd_type is uniform or gaussian, not {self.rnd_type!r}")


@register
class MSRAPrelu(Xavier):
    """Xavier for layers before rectifiers of the given slope (He et al.)."""

    def __init__(self, factor_type="avg", slope=0.25):
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope ** 2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}
