# SPDX-License-Identifier: Apache-2.0
"""mx.sym.np: NumPy's functions of symbols, the same as mx.np's. Those that need values
raise Untraceable, and a hybridized block that calls them runs operator by operator."""

from ..._numpy import _creation, _functions
from ..._numpy._call import make_symbol
from . import _internal, linalg, random
from ._symbol import _Symbol

globals().update(_functions.CONSTANTS)
globals().update(_functions.SHARED)
globals().update(_creation.as_symbols(make_symbol))
