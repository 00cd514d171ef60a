# SPDX-License-Identifier: Apache-2.0
"""Known networks, without their values."""
from . import model_store, vision

__all__ = ["model_store", "vision"]
