# SPDX-License-Identifier: Apache-2.0
"""Blocks and tools beside Gluon's own."""
from . import cnn, data, estimator, nn, rnn

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]
