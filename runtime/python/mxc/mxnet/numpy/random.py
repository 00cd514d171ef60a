# SPDX-License-Identifier: Apache-2.0
"""mx.np.random: draws; what is drawn follows from npx.seed and the order of calls."""

from .._numpy._call import make_array
from .._numpy._functions import SHARED
from .._numpy._random import functions

globals().update(functions(make_array, SHARED))


def seed(seed=None):
    """The draws after it follow from this number; None: from the clock."""
    import time

    from .. import random
    random.seed(int(time.time_ns() % 2**31) if seed is None else seed)
