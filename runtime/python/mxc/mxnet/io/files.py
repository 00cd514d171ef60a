# SPDX-License-Identifier: Apache-2.0
"""Iterators over files, which runtime/data reads: MNIST, CSV, LibSVM, RecordIO."""

import math
import os

from ... import _train
from .. import ndarray as nd
from ..base import MXNetError, attribute_text
from ._pictures import lighting, with_aspects
from .base import DataBatch, DataDesc, DataIter
from .lines import CSRIter

# What MXNet's iterators take and nothing here depends on.
_IGNORED = {"silent", "verbose", "ctx", "device_id", "path_imgidx", "seed_aug",
            "shuffle_chunk_size", "shuffle_chunk_seed", "input_shape",
            "max_img_size", "min_img_size", "inter_method", "prefetcher"}
# Options of pictures that are not there, and the value that changes nothing.
_NEUTRAL = {"max_random_scale": 1, "min_random_scale": 1, "max_crop_size": -1,
            "min_crop_size": -1, "max_random_hue": 0, "rand_gray": 0}


class SourceIter(DataIter):
    """Batches of a source of runtime/data.

    spec: the source, as `mxc train --data` has it; settings: its options; dtype:
    of the batches, None: as the source has it; reorders: whether shuffled samples
    have another order in each epoch. data_stype: the data's storage type.
    """

    data_stype = "default"
    # Of NumPy's data, before a batch has them; None: as they are.
    finish = None

    def __init__(self, spec, batch_size, settings, data_name="data",
                 label_name="softmax_label", dtype=None, reorders=True):
        super().__init__(batch_size)
        options = _train.SampleOptions()
        options.batch = batch_size
        options.settings = [(name, attribute_text(value))
                            for name, value in settings.items()]
        try:
            self._samples = _train.Samples(spec, options)
        except (ValueError, OSError) as error:
            raise MXNetError(str(error)) from error
        self._epoch = 0
        self._reorders = reorders
        self._names = (data_name, label_name)
        self._dtype = dtype
        self._first = self._pending = self._read()
        self._current = None
        self._ended = False

    def _read(self):
        try:
            found = self._samples.next()
        except ValueError as error:
            raise MXNetError(str(error)) from error
        return found

    def _described(self, which):
        if self._first is None:
            return []
        arrays = self._first[which]
        names = [self._names[which]] if len(arrays) == 1 else [
            f"{self._names[which]}{i}" for i in range(len(arrays))]
        return [DataDesc(name, array.shape, self._dtype or array.dtype.type)
                for name, array in zip(names, arrays)]

    @property
    def provide_data(self):
        """Descriptions of the data."""
        return self._described(0)

    @property
    def provide_label(self):
        """Descriptions of the labels."""
        return self._described(1)

    def reset(self):
        if self._pending is not None:
            return
        self._epoch += self._reorders
        self._samples.seek(self._epoch)
        self._pending = self._read()
        self._ended = False

    def iter_next(self):
        self._current, self._pending = self._pending, None
        if self._current is not None:
            return True
        if self._ended:
            return False
        self._current = self._read()
        self._ended = self._current is None
        return not self._ended

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self._arrays(0), label=self._arrays(1),
                         pad=self.getpad(), index=self.getindex())

    def _arrays(self, which):
        stype = "default" if which else self.data_stype
        arrays = self._current[which]
        if self.finish is not None and not which:
            arrays = [self.finish(array) for array in arrays]
        return [nd.array(array, dtype=self._dtype or array.dtype).tostype(stype)
                for array in arrays]

    def getdata(self):
        """The first array of data of the present batch."""
        return self._arrays(0)[0]

    def getlabel(self):
        """Its first labels."""
        return self._arrays(1)[0]

    def getindex(self):
        return list(self._current[2])

    def getpad(self):
        return int(self._current[3])


def _required(name, value):
    if value is None:
        raise MXNetError(f"Required parameter {name} of string is not presented")
    return os.fspath(value)


def _iterator(spec, batch_size, kwargs, reorders=True, **settings):
    """The SourceIter of a source with the options of MXNet's function."""
    names = {key: kwargs.pop(key) for key in ("data_name", "label_name")
             if key in kwargs}
    dtype = kwargs.pop("dtype", None)
    for name, value in _NEUTRAL.items():
        if kwargs.pop(name, value) != value:
            raise NotImplementedError(f"the option {name} is not there")
    given = {name: value for name, value in {**kwargs, **settings}.items()
             if name not in _IGNORED and value is not None}
    return SourceIter(spec, batch_size, given, dtype=dtype, reorders=reorders,
                      **names)


def MNISTIter(image=None, label=None, batch_size=128, shuffle=True, flat=False,
              seed=0, **kwargs):
    """MNIST's idx files, plain or compressed: pixels from 0 to 255/256, flat or
    (1, 28, 28); rows that do not fill a batch are left out. Shuffled once."""
    kwargs.pop("data_shape", None)
    image, label = _required("image", image), _required("label", label)
    folder = os.path.dirname(image) or "."
    for file in (image, label):
        if not os.path.exists(file):
            raise MXNetError(f"{file} cannot be opened")
    return _iterator(f"mnist:{folder}", batch_size, kwargs, reorders=False,
                     shuffle=bool(shuffle), flat=bool(flat), seed=seed,
                     last_batch="discard", image=os.path.basename(image),
                     label=os.path.relpath(label, folder))


def CSVIter(data_csv=None, data_shape=None, batch_size=1, label_csv=None,
            label_shape=(1,), round_batch=True, **kwargs):
    """Lines of numbers; labels from label_csv, else 0."""
    data_csv = _required("data_csv", data_csv)
    labels = {} if label_csv is None else {"label_csv": os.fspath(label_csv),
                                           "label_shape": label_shape}
    kwargs.setdefault("label_name", "label")
    return _iterator(f"csv:{data_csv}", batch_size, kwargs, data_shape=data_shape,
                     round_batch=bool(round_batch), **labels)


def LibSVMIter(data_libsvm=None, data_shape=None, batch_size=1, label_libsvm=None,
               label_shape=(1,), round_batch=True, **kwargs):
    """Lines "label index:value …": the data are csr arrays."""
    data_libsvm = _required("data_libsvm", data_libsvm)
    if label_libsvm is None:
        if not round_batch:
            raise MXNetError("sparse batches are round: round_batch=False is not there")
        names = {name: value for name, value in kwargs.items() if name not in _IGNORED}
        return CSRIter(data_libsvm, math.prod(_shape_of(data_shape)), batch_size,
                       math.prod(_shape_of(label_shape)), **names)
    found = _iterator(f"libsvm:{data_libsvm}", batch_size, kwargs,
                      data_shape=data_shape, round_batch=bool(round_batch),
                      label_libsvm=os.fspath(label_libsvm), label_shape=label_shape)
    found.data_stype = "csr"
    return found


def _shape_of(shape):
    if shape is None:
        raise MXNetError("Required parameter data_shape of Shape(tuple) is not presented")
    return (shape,) if isinstance(shape, int) else shape


def ImageRecordIter(path_imgrec=None, data_shape=None, batch_size=128,
                    round_batch=True, pca_noise=0, **kwargs):
    """Pictures of a RecordIO file, (channels, height, width) each, cropped,
    mirrored and normalised by the options."""
    path_imgrec = _required("path_imgrec", path_imgrec)
    finish = lighting(pca_noise, kwargs) if pca_noise else None
    found = _iterator(f"rec:{path_imgrec}", batch_size, with_aspects(kwargs),
                      data_shape=data_shape, round_batch=bool(round_batch))
    found.finish = finish
    return found


def ImageRecordUInt8Iter(*args, **kwargs):
    """ImageRecordIter with bytes."""
    return ImageRecordIter(*args, dtype="uint8", **kwargs)


def ImageRecordInt8Iter(*args, **kwargs):
    """ImageRecordIter with bytes of which 128 was taken."""
    return ImageRecordIter(*args, dtype="int8", **kwargs)
