# SPDX-License-Identifier: Apache-2.0
"""mx.sym: networks that are declared, then bound, compiled and run.

Functions of operators come from the compiler's table (`mxc ops`).
"""

import sys as _sys

from . import _internal, contrib, image, linalg, op, random, sparse
from ._arithmetic import hypot, maximum, minimum, pow, power
from ._functions import (arange, concat, eye, full, histogram, linspace, ones,
                         split_v2, zeros)
from ._register import fill as _fill
from .symbol import (Group, Symbol, Variable, fromjson, load, load_json, var)

_fill(_sys.modules[__name__])

__all__ = [name for name in dir() if not name.startswith("_")]
