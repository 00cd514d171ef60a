# SPDX-License-Identifier: Apache-2.0
"""mx.sym.npx.random."""

from ..._numpy._call import make_symbol
from ..._numpy._extension import random_functions

globals().update(random_functions(make_symbol))
