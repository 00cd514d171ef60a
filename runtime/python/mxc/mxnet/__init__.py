# SPDX-License-Identifier: Apache-2.0
"""For programs written for Apache MXNet 1.x: its names over mxc.

    import mxc.mxnet as mx
    (mx.nd.ones((2, 3)) + 1).asnumpy()

`python -m mxc.mxnet SCRIPT` runs a script that imports mxnet."""

from . import base, context, ndarray
from . import ndarray as nd
from .base import MXNetError
from .context import (Context, cpu, cpu_pinned, current_context, gpu,
                      gpu_memory_info, num_gpus)

__version__ = "1.9.1"

from ._symbolic import *  # noqa: F403
