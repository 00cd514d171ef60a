# SPDX-License-Identifier: Apache-2.0
"""Rules that change weights by their gradients: `create("sgd", momentum=0.9)`.

The arithmetic is that of the compiler's operators sgd_update, adam_update, …
where there is one.
"""

from . import contrib
from .adaptive import (AdaDelta, AdaGrad, Adam, Adamax, Ftrl, FTML, LAMB, Nadam,
                       RMSProp)
from .base import Optimizer, create, register
from .descent import DCASGD, LARS, LBSGD, NAG, SGD, SGLD, Signum, Test, ccSGD
from .updater import Updater, get_updater

opt = Optimizer

__all__ = ["AdaDelta", "AdaGrad", "Adam", "Adamax", "DCASGD", "FTML", "Ftrl",
           "LAMB", "LARS", "LBSGD", "NAG", "Nadam", "Optimizer", "RMSProp", "SGD",
           "SGLD", "Signum", "Test", "Updater", "ccSGD", "contrib", "create",
           "get_updater", "register"]
