# SPDX-License-Identifier: Apache-2.0
"""mx.npx: operators of networks for mx.np's arrays, and what is set for all of them."""

from .._numpy import _extension
from ..context import (Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info,
                       num_gpus)
from ..ndarray import waitall
from ..util import is_np_array, is_np_shape, reset_np, set_np
from . import image, random
from ._files import load, save, savez
from .random import seed

globals().update(_extension.FUNCTIONS)
