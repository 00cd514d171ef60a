# SPDX-License-Identifier: Apache-2.0
"""Stochastic variance reduced gradient (Johnson and Zhang, 2013)."""
from . import svrg_module, svrg_optimizer

__all__ = ["svrg_module", "svrg_optimizer"]
