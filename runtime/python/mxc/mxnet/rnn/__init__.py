# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells as symbols, and sentences in buckets."""

from . import io
from .base import BaseRNNCell, RNNParams
from .cells import GRUCell, LSTMCell, RNNCell
from .checkpoints import (do_rnn_checkpoint, load_rnn_checkpoint,
                          save_rnn_checkpoint)
from .combined import BidirectionalCell, SequentialRNNCell
from .conv_cells import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from .fused import FusedRNNCell
from .io import BucketSentenceIter, encode_sentences
from .modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell

__all__ = ["BaseConvRNNCell", "BaseRNNCell", "BidirectionalCell",
           "BucketSentenceIter", "ConvGRUCell", "ConvLSTMCell", "ConvRNNCell",
           "DropoutCell", "FusedRNNCell", "GRUCell", "LSTMCell", "ModifierCell",
           "RNNCell", "RNNParams", "ResidualCell", "SequentialRNNCell",
           "ZoneoutCell", "do_rnn_checkpoint", "encode_sentences", "io",
           "load_rnn_checkpoint", "save_rnn_checkpoint"]
