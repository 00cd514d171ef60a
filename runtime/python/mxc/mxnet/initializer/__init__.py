# SPDX-License-Identifier: Apache-2.0
"""What parameters begin with.

An initializer is called with a parameter's name and array. The variable's own
attribute `__init__` says how, or else the end of its name (see Initializer).
"""

from .base import InitDesc, Initializer, alias, create, register
from .combined import FusedRNN, Load, Mixed
from .filled import Bilinear, Constant, LSTMBias, One, Zero
from .random import MSRAPrelu, Normal, Orthogonal, Uniform, Xavier

__all__ = ["Bilinear", "Constant", "FusedRNN", "InitDesc", "Initializer",
           "LSTMBias", "Load", "MSRAPrelu", "Mixed", "Normal", "One",
           "Orthogonal", "Uniform", "Xavier", "Zero", "alias", "create",
           "register"]
