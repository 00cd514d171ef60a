# SPDX-License-Identifier: Apache-2.0
"""The names of the symbolic half: graphs, and what trains them."""

from . import (attribute, callback, executor, initializer, io, kvstore, log,
               lr_scheduler, metric, model, module, monitor, name, operator,
               optimizer, recordio, registry, rnn, symbol, visualization)
from . import initializer as init
from . import kvstore as kv
from . import module as mod
from . import monitor as mon
from . import ndarray as _ndarray
from . import optimizer as opt
from . import symbol as sym
from . import visualization as viz
from .attribute import AttrScope
from .executor import Executor
from .symbol import Symbol

__all__ = ["AttrScope", "Executor", "Symbol", "attribute", "callback", "executor",
           "init", "initializer", "io", "kv", "kvstore", "log", "lr_scheduler",
           "metric", "mod", "model", "module", "mon", "monitor", "name",
           "operator", "opt", "optimizer", "recordio", "registry", "rnn", "sym",
           "symbol", "visualization", "viz"]

# Operators of the user's own are called of arrays, too.
_ndarray.Custom = operator.custom
