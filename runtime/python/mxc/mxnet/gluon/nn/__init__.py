# SPDX-License-Identifier: Apache-2.0
"""Layers."""
from ..block import Block, HybridBlock, SymbolBlock
from .activations import *  # noqa: F403
from .basic_layers import *  # noqa: F403
from .norm_layers import *  # noqa: F403
from .conv_layers import *  # noqa: F403
from .pool_layers import *  # noqa: F403
from . import activations, basic_layers, conv_layers, norm_layers, pool_layers

__all__ = (["Block", "HybridBlock", "SymbolBlock"] + activations.__all__ + basic_layers.__all__
           + conv_layers.__all__ + norm_layers.__all__ + pool_layers.__all__)
