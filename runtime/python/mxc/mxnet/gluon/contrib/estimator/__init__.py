# SPDX-License-Identifier: Apache-2.0
"""Training by events: Estimator and its handlers."""
from . import batch_processor, event_handler, utils
from . import estimator as _estimator
from .batch_processor import *  # noqa: F403
from .estimator import *  # noqa: F403
from .event_handler import *  # noqa: F403

estimator = _estimator
__all__ = _estimator.__all__ + event_handler.__all__ + batch_processor.__all__
