# SPDX-License-Identifier: Apache-2.0
"""For programs written for Apache MXNet 1.x: its names over mxc.

    import mxc.mxnet as mx
    (mx.nd.ones((2, 3)) + 1).asnumpy()

`python -m mxc.mxnet SCRIPT` runs a script that imports mxnet."""

import importlib as _importlib

from . import (autograd, base, context, engine, ndarray, profiler, random, runtime,
               util)
from . import ndarray as nd
from . import random as rnd
from .base import MXNetError
from .context import (Context, cpu, cpu_pinned, current_context, gpu,
                      gpu_memory_info, num_gpus)
from .util import (is_np_array, is_np_shape, np_array, np_shape, set_np_shape, use_np,
                   use_np_array, use_np_shape)

__version__ = "1.9.1"

from ._symbolic import *  # noqa: F403
# Modules by the names that MXNet gives them beside their own.
_MODULES = {
    "name": (), "attribute": (), "symbol": ("sym",), "executor": (),
    "initializer": ("init",), "optimizer": (), "lr_scheduler": (), "metric": (),
    "kvstore": ("kv",), "callback": (), "io": (), "recordio": (), "model": (),
    "module": ("mod",), "monitor": ("mon",), "operator": (), "visualization":
    ("viz",), "rnn": (), "image": ("img",), "gluon": (), "contrib": (),
    "test_utils": (),
}
for _name, _aliases in _MODULES.items():
    try:
        _module = _importlib.import_module("." + _name, __name__)
    except ModuleNotFoundError as _error:
        if not str(_error.name).startswith(__name__):
            raise
        continue
    for _alias in _aliases:
        globals()[_alias] = _module
if "attribute" in globals():
    AttrScope = attribute.AttrScope  # noqa: F821
