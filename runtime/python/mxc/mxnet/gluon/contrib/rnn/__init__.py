# SPDX-License-Identifier: Apache-2.0
"""More recurrent cells."""
from .conv_rnn_cell import *  # noqa: F403
from .rnn_cell import *  # noqa: F403
from . import conv_rnn_cell, rnn_cell

__all__ = conv_rnn_cell.__all__ + rnn_cell.__all__
