# SPDX-License-Identifier: Apache-2.0
"""Words as numbers and as vectors."""
from . import embedding, utils, vocab

__all__ = ["embedding", "utils", "vocab"]
