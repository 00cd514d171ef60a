# SPDX-License-Identifier: Apache-2.0
"""Batches, what describes them, and what gives them."""

from collections import namedtuple

import numpy as np


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name and shape of an array of a batch, with dtype and layout: which axis is
    the batch's is where "N" stands in it."""

    def __new__(cls, name, shape, dtype=np.float32, layout="NCHW"):
        described = super().__new__(cls, name, tuple(shape))
        described.dtype = dtype
        described.layout = layout
        return described

    def __repr__(self):
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout):
        """The axis along which samples lie; 0 of no layout."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes, types):
        """Descriptions of pairs (name, shape) and (name, type)."""
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        by_name = dict(types)
        return [DataDesc(name, shape, by_name[name]) for name, shape in shapes]


class DataBatch:
    """Lists of arrays: data and label; pad: how many samples at the end only fill
    it up; index: the samples' numbers."""

    def __init__(self, data, label=None, pad=None, index=None, bucket_key=None,
                 provide_data=None, provide_label=None):
        for name, arrays in (("Data", data), ("Label", label)):
            if arrays is not None and not isinstance(arrays, (list, tuple)):
                raise AssertionError(f"{name} must be list of NDArrays")
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self):
        labels = ([array.shape for array in self.label] if self.label else None)
        return (f"{type(self).__name__}: data shapes: "
                f"{[array.shape for array in self.data]} label shapes: {labels}")


class DataIter:
    """The base of iterators: a subclass defines next(), or iter_next() with
    getdata(), getlabel(), getpad(), and provide_data and provide_label."""

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def reset(self):
        """Back to the beginning."""

    def next(self):
        """The next DataBatch; StopIteration behind the last one."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(),
                         pad=self.getpad(), index=self.getindex())

    def __next__(self):
        return self.next()

    def iter_next(self):
        """Goes on; whether there is a batch."""

    def getdata(self):
        """The arrays of data of the present batch."""

    def getlabel(self):
        """Its labels."""

    def getindex(self):
        """Its samples' numbers."""

    def getpad(self):
        """How many samples fill it up."""
