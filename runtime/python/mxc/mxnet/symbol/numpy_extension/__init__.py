# SPDX-License-Identifier: Apache-2.0
"""mx.sym.npx: operators of networks for mx.sym.np's symbols."""

from ..._numpy import _extension
from . import image, random

globals().update(_extension.FUNCTIONS)
