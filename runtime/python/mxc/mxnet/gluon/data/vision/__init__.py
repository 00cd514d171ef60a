# SPDX-License-Identifier: Apache-2.0
"""Data sets of pictures."""
from .datasets import *  # noqa: F403
from . import datasets, transforms

__all__ = datasets.__all__ + ["datasets", "transforms"]
