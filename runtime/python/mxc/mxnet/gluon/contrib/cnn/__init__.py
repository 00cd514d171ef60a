# SPDX-License-Identifier: Apache-2.0
"""More convolutions."""
from .conv_layers import *  # noqa: F403
from . import conv_layers

__all__ = conv_layers.__all__
