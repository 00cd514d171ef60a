# SPDX-License-Identifier: Apache-2.0
"""Data sets, the order in which samples are drawn, and batches of them."""
from .dataset import *  # noqa: F403
from .sampler import *  # noqa: F403
from .dataloader import *  # noqa: F403
from . import dataloader, dataset, sampler, vision

__all__ = dataset.__all__ + sampler.__all__ + dataloader.__all__ + ["vision"]
