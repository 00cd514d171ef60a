# SPDX-License-Identifier: Apache-2.0
"""Iterators of batches: over arrays, and over files by runtime/data."""

from .arrays import NDArrayIter
from .base import DataBatch, DataDesc, DataIter
from .files import (CSVIter, ImageRecordInt8Iter, ImageRecordIter,
                    ImageRecordUInt8Iter, LibSVMIter, MNISTIter, SourceIter)
from .wrappers import PrefetchingIter, ResizeIter

MXDataIter = SourceIter

__all__ = ["CSVIter", "DataBatch", "DataDesc", "DataIter", "ImageRecordInt8Iter",
           "ImageRecordIter", "ImageRecordUInt8Iter", "LibSVMIter", "MNISTIter",
           "MXDataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter",
           "SourceIter"]
