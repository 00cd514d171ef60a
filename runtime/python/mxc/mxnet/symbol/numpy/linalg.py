# SPDX-License-Identifier: Apache-2.0
"""mx.sym.np.linalg."""

from ..._numpy._linalg import FUNCTIONS

globals().update(FUNCTIONS)
