# SPDX-License-Identifier: Apache-2.0
"""Operators whose names begin with an underscore."""

import sys as _sys

from ._register import fill as _fill

_fill(_sys.modules[__name__])
