# SPDX-License-Identifier: Apache-2.0
"""Pictures: decoding, changing, iterating over them."""
from . import augment, detection, image
from .augment import *  # noqa: F403
from .detection import *  # noqa: F403
from .image import *  # noqa: F403
from .iterator import ImageIter

det = detection

__all__ = image.__all__ + augment.__all__ + detection.__all__ + ["ImageIter"]
