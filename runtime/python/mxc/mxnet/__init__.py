# SPDX-License-Identifier: Apache-2.0
"""For programs written for Apache MXNet 1.x: its names over mxc.

    import mxc.mxnet as mx
    (mx.nd.ones((2, 3)) + 1).asnumpy()

`python -m mxc.mxnet SCRIPT` runs a script that imports mxnet."""

from . import (autograd, base, context, engine, error, libinfo, ndarray, profiler,
               random, runtime, util)
from . import ndarray as nd
from . import random as rnd
from .base import MXNetError
from .context import (Context, cpu, cpu_pinned, current_context, gpu,
                      gpu_memory_info, num_gpus)
from .util import (is_np_array, is_np_shape, np_array, np_shape, reset_np, set_np,
                   set_np_shape, use_np, use_np_array, use_np_shape)
from ._symbolic import *  # noqa: F403
from . import contrib, gluon, image, test_utils  # noqa: I001
from . import image as img
from . import numpy as np
from . import numpy_extension as npx
from . import executor_manager, library, numpy_dispatch_protocol, numpy_op_signature, rtc
from .symbol import numpy as _symbol_np, numpy_extension as _symbol_npx

nd.np, nd.npx = np, npx
sym.np, sym.npx = _symbol_np, _symbol_npx

__version__ = "1.9.1"
