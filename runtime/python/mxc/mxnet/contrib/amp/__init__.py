# SPDX-License-Identifier: Apache-2.0
"""mx.contrib.amp: its names; mxc lowers precision when it compiles."""

from . import amp
from .amp import (convert_hybrid_block, convert_model, convert_symbol, init, init_trainer,
                  scale_loss, unscale)

__all__ = ["amp", "convert_hybrid_block", "convert_model", "convert_symbol", "init",
           "init_trainer", "scale_loss", "unscale"]
