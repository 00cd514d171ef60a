# SPDX-License-Identifier: Apache-2.0
"""mx.npx.random."""

from .. import random as _random
from .._numpy._call import make_array
from .._numpy._extension import random_functions

globals().update(random_functions(make_array))


def seed(seed, ctx="all"):
    """The draws after it follow from this number."""
    _random.seed(seed)
