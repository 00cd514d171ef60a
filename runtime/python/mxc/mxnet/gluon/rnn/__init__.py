# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: cells, step by step, and fused layers."""
from .rnn_cell import *  # noqa: F403
from .rnn_layer import *  # noqa: F403
from . import rnn_cell, rnn_layer

__all__ = rnn_cell.__all__ + rnn_layer.__all__
