# SPDX-License-Identifier: Apache-2.0
"""mx.sym.np.random."""

from ..._numpy._call import make_symbol
from ..._numpy._functions import SHARED
from ..._numpy._random import functions

globals().update(functions(make_symbol, SHARED))
