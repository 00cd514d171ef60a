# SPDX-License-Identifier: Apache-2.0
"""Control flow, and the operators whose names begin with _contrib_."""

import math as _math
import sys as _sys

from ._compose import create as _create
from ._control_flow import cond, foreach, while_loop
from ._register import fill as _fill

_fill(_sys.modules[__name__])


def rand_zipfian(true_classes, num_sampled, range_max):
    """(drawn classes, expected counts of the true ones, of the drawn ones), of
    the distribution P(k) = log((k + 2) / (k + 1)) / log(range_max + 1)."""
    log_range = _math.log(range_max + 1)
    drawn = _create("_random_uniform", "uniform", (), {
        "low": 0, "high": log_range, "shape": (num_sampled,),
        "dtype": "float64"})
    sampled = _cast(_create("exp", "exp", (drawn,), {}) - 1, "int64") % range_max

    def expected(classes):
        wide = _cast(classes, "float64")
        return (_create("log", "log", ((wide + 2.0) / (wide + 1.0),), {})
                / log_range * num_sampled)

    return sampled, expected(true_classes), expected(sampled)


def _cast(data, dtype):
    return _create("Cast", "cast", (data,), {"dtype": dtype})
