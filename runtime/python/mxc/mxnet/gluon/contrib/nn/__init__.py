# SPDX-License-Identifier: Apache-2.0
"""More layers."""
from .basic_layers import *  # noqa: F403
from . import basic_layers

__all__ = basic_layers.__all__
