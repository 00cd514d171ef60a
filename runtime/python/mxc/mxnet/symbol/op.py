# SPDX-License-Identifier: Apache-2.0
"""All operators whose names begin with a letter."""

import sys as _sys

from ._register import fill as _fill

_fill(_sys.modules[__name__])
