# SPDX-License-Identifier: Apache-2.0
"""mx.np.linalg."""

from .._numpy._linalg import FUNCTIONS

globals().update(FUNCTIONS)
