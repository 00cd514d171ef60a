# SPDX-License-Identifier: Apache-2.0
"""mx.sym.npx.image: operators over pictures."""

from ..._numpy._extension import IMAGE

globals().update(IMAGE)
