# SPDX-License-Identifier: Apache-2.0
"""All functions of mx.np by name; those of SHARED take symbols, too."""

from . import (_creation, _elementwise, _host, _joins, _products, _reductions, _search,
               _shapes)

SHARED = {}
for _part in (_host, _shapes, _joins, _products, _reductions, _search, _elementwise):
    SHARED.update(_part.FUNCTIONS)
SHARED.update(_creation.LIKE)
CONSTANTS = _products.CONSTANTS
