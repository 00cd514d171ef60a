# SPDX-License-Identifier: Apache-2.0
"""Operators whose names begin with _npi_."""

from ..._numpy._internal import FUNCTIONS

globals().update(FUNCTIONS)
