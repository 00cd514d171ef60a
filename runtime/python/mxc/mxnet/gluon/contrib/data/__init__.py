# SPDX-License-Identifier: Apache-2.0
"""More samplers, and texts."""
from .sampler import *  # noqa: F403
from . import sampler, text

__all__ = sampler.__all__ + ["sampler", "text"]
