# SPDX-License-Identifier: Apache-2.0
"""Operators whose names begin with an underscore."""

import sys as _sys

from ._register import fill as _fill
from .symbol import load_json as _load_json

_fill(_sys.modules[__name__])


def _CachedOp(*args, subgraph, name=None, **flags):
    """A graph as one operator: the symbol of the JSON `subgraph` over these inputs, in
    the order of its list_inputs(). `flags` are MXNet's, and change nothing."""
    symbol = _load_json(subgraph)
    names = symbol.list_inputs()
    if len(args) != len(names):
        raise TypeError(f"the subgraph has {len(names)} inputs, and {len(args)} are given")
    return symbol(**dict(zip(names, args)), **({"name": name} if name else {}))
