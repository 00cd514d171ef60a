# SPDX-License-Identifier: Apache-2.0
"""Gluon: networks of blocks, their training and their data."""
from .parameter import Constant, DeferredInitializationError, Parameter, tensor_types
from .parameter_dict import ParameterDict
from .block import Block, HybridBlock, SymbolBlock
from .trainer import Trainer
from . import data, loss, nn, rnn, utils
from . import contrib, model_zoo

__all__ = ["Block", "Constant", "DeferredInitializationError", "HybridBlock", "Parameter",
           "ParameterDict", "SymbolBlock", "Trainer", "contrib", "data", "loss", "model_zoo",
           "nn", "rnn", "tensor_types", "utils"]
