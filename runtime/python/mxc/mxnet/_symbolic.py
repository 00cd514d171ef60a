# SPDX-License-Identifier: Apache-2.0
"""The names of the symbolic half: graphs, and what trains them."""

from . import (attribute, callback, executor, initializer, io, log, lr_scheduler,
               metric, name, operator, optimizer, recordio, registry, symbol)
from . import initializer as init
from . import ndarray as _ndarray
from . import optimizer as opt
from . import symbol as sym
from .attribute import AttrScope
from .symbol import Symbol

__all__ = ["AttrScope", "Symbol", "attribute", "callback", "executor", "init",
           "initializer", "io", "log", "lr_scheduler", "metric", "name", "operator", "opt", "optimizer",
           "recordio", "registry", "sym", "symbol"]

_ndarray.Custom = operator.custom
