# SPDX-License-Identifier: Apache-2.0
"""Compiles symbolic neural networks ahead of time, runs and trains them.

    import mxc
    model = mxc.compile("lenet.json", init="xavier")   # or mxc.load("lenet.mxa")
    probabilities = model(images)
"""

from ._compile import compile
from ._errors import CompileError, Error
from ._executor import Executor
from ._explain import Explanation, explain
from ._history import EarlyStopping, Epoch, History, StopTraining
from ._model import Model, load
from ._runtime import Entry, Tensor
from ._runtime import version as __version__
from ._samples import Data, data
from ._training import Trainer

__all__ = ["compile", "load", "data", "Model", "Executor", "Trainer", "Data",
           "Epoch", "History", "EarlyStopping", "StopTraining", "Entry",
           "Tensor", "Error", "CompileError", "explain", "Explanation"]
