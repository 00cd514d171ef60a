# SPDX-License-Identifier: Apache-2.0
"""The names of the symbolic half: graphs, and what trains them."""

from . import (attribute, callback, initializer, log, lr_scheduler, metric, name,
               registry, symbol)
from . import initializer as init
from . import symbol as sym
from .attribute import AttrScope
from .symbol import Symbol

__all__ = ["AttrScope", "Symbol", "attribute", "callback", "init", "initializer",
           "log", "lr_scheduler", "metric", "name", "registry", "sym", "symbol"]
