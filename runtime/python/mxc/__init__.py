# SPDX-License-Identifier: Apache-2.0
"""Compiles symbolic neural networks ahead of time, runs and trains them.

    import mxc
    model = mxc.compile("lenet.json", init="xavier")   # or mxc.load("lenet.mxa")
    probabilities = model(images)
"""

from ._compile import compile
from ._errors import CompileError, Error
from ._model import Model, load
from ._runtime import Entry, Executor, Tensor
from ._runtime import version as __version__
from ._training import Trainer

__all__ = ["compile", "load", "Model", "Executor", "Trainer", "Entry", "Tensor",
           "Error", "CompileError"]
