# SPDX-License-Identifier: Apache-2.0
"""mx.random: mx.nd.random, and the seed."""

from .. import _ndarray
from .ndarray.random import *  # noqa: F403
from .ndarray.random import (exponential, gamma, generalized_negative_binomial,
                             multinomial, negative_binomial, normal, poisson,
                             randint, randn, shuffle, uniform)

__all__ = ["seed", "uniform", "normal", "randn", "poisson", "exponential", "gamma",
           "multinomial", "negative_binomial", "generalized_negative_binomial",
           "shuffle", "randint"]


def seed(seed_state, ctx="all"):
    """What is drawn from now on follows from a whole number."""
    if not isinstance(seed_state, int) and not hasattr(seed_state, "__index__"):
        raise ValueError("sd must be int")
    _ndarray.seed(int(seed_state) % 2**64)
