# SPDX-License-Identifier: Apache-2.0
"""np._internal: the operators whose names begin with _npi_, by the rest of their names."""

from ._extension import functions

FUNCTIONS = functions("_npi_")
