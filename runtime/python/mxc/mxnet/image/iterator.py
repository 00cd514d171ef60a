# SPDX-License-Identifier: Apache-2.0
"""ImageIter: batches of pictures from record files, lists and folders."""
import os
import random

import numpy as np

from .. import io, ndarray, recordio
from .augment import CreateAugmenter
from .image import imdecode

__all__ = ["ImageIter"]


class ImageIter(io.DataIter):
    """Batches of pictures (N, C, H, W) with labels (N,) or (N, label_width).

    From a record file (`path_imgrec`, to shuffle with `path_imgidx`), a list file
    (`path_imglist`: number, labels, path, by tabs) or a list `imglist` of [labels…, path];
    paths are below `path_root`. Further arguments are `CreateAugmenter`'s, unless
    `aug_list` is given. The last batch is padded from the beginning ("pad"), left out
    ("discard") or begins the next round ("roll_over").
    """

    def __init__(self, batch_size, data_shape, label_width=1, path_imgrec=None,
                 path_imglist=None, path_root=None, path_imgidx=None, shuffle=False,
                 part_index=0, num_parts=1, aug_list=None, imglist=None, data_name="data",
                 label_name="softmax_label", dtype="float32", last_batch_handle="pad",
                 **kwargs):
        super().__init__(batch_size)
        assert path_imgrec or path_imglist or isinstance(imglist, list), (
            "ImageIter wants path_imgrec, path_imglist or imglist.")
        assert dtype in ("int32", "float32", "int64", "float64"), (
            f"dtype is int32, float32, int64 or float64, not {dtype}.")
        assert last_batch_handle in ("pad", "discard", "roll_over"), (
            f"last_batch_handle is 'pad', 'discard' or 'roll_over', not '{last_batch_handle}'.")
        self.check_data_shape(data_shape)
        self.path_root = path_root
        self.shuffle = shuffle
        self.dtype = dtype
        self.data_shape = tuple(data_shape)
        self.label_width = label_width
        self.last_batch_handle = last_batch_handle
        self.imgrec = self.imglist = self.seq = None
        self._open(path_imgrec, path_imgidx, path_imglist, imglist)
        if num_parts > 1:
            self._take_part(part_index, num_parts)
        self.auglist = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.provide_data = [(data_name, (batch_size, *self.data_shape))]
        self.provide_label = [(label_name, self._label_shape(batch_size))]
        self.cur = 0
        self._waiting = []  # samples that begin the next round
        self._ended = False
        self.reset()

    def _label_shape(self, batch_size):
        return (batch_size,) if self.label_width == 1 else (batch_size, self.label_width)

    def _open(self, path_imgrec, path_imgidx, path_imglist, imglist):
        if path_imgrec:
            index = path_imgidx or os.path.splitext(path_imgrec)[0] + ".idx"
            if os.path.exists(index):
                self.imgrec = recordio.MXIndexedRecordIO(index, path_imgrec, "r")
                self.seq = list(self.imgrec.keys)
            else:
                assert not self.shuffle, f"To shuffle {path_imgrec}, its index is needed: {index}."
                self.imgrec = recordio.MXRecordIO(path_imgrec, "r")
        if path_imglist:
            self.imglist, order = {}, []
            with open(path_imglist, encoding="utf-8") as file:
                for line in file:
                    number, *labels, path = line.strip().split("\t")
                    self.imglist[int(number)] = (np.array(labels, dtype=self.dtype), path)
                    order.append(int(number))
            self.seq = order
        elif isinstance(imglist, list):
            self.imglist = {}
            for i, entry in enumerate(imglist):
                label = entry[0] if len(entry) == 2 else entry[:-1]
                label = np.array([label] if np.isscalar(label) else label, dtype=self.dtype)
                self.imglist[str(i + 1)] = (label.reshape(-1), entry[-1])
            self.seq = list(self.imglist)

    def _take_part(self, part_index, num_parts):
        assert 0 <= part_index < num_parts, f"part_index is below {num_parts}, not {part_index}."
        assert self.seq is not None, "Parts of a record file need its index."
        size = len(self.seq) // num_parts
        self.seq = self.seq[part_index * size:(part_index + 1) * size]

    def check_data_shape(self, data_shape):
        """A ValueError where `data_shape` is not (3, height, width)."""
        if len(data_shape) != 3:
            raise ValueError(f"data_shape is (channels, height, width), not {data_shape}.")
        if data_shape[0] != 3:
            raise ValueError(f"data_shape has 3 channels, not {data_shape[0]}.")

    def check_valid_image(self, data):
        """A RuntimeError where the first picture of `data` has no extents."""
        if len(data[0].shape) == 0:
            raise RuntimeError("The picture has no extents.")

    def num_samples(self):
        """How many there are."""
        return len(self.seq)

    # Samples.

    def _begin(self):
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        if self.imgrec is not None:
            self.imgrec.reset()
        self.cur = 0

    def reset(self):
        """Begins a new round."""
        if self.last_batch_handle != "roll_over":
            self._waiting = []
        self._ended = False
        self._begin()

    def hard_reset(self):
        """Begins anew, without what was kept for the next round."""
        self._waiting = []
        self._ended = False
        self._begin()

    def next_sample(self):
        """(labels, bytes of the file) of the next picture; StopIteration at the end."""
        if self.seq is None:
            record = self.imgrec.read()
            if record is None:
                raise StopIteration
            header, picture = recordio.unpack(record)
            return header.label, picture
        if self.cur >= len(self.seq):
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is not None:
            header, picture = recordio.unpack(self.imgrec.read_idx(key))
            return (header.label if self.imglist is None else self.imglist[key][0]), picture
        label, path = self.imglist[key]
        return label, self.read_image(path)

    def read_image(self, fname):
        """The bytes of a file below `path_root`."""
        with open(os.path.join(self.path_root or "", fname), "rb") as file:
            return file.read()

    def imdecode(self, s):
        """The picture of a file's bytes."""
        try:
            return imdecode(s)
        except Exception as error:
            raise RuntimeError(f"Picture {self.cur}: {error}") from error

    def augmentation_transform(self, data):
        """The picture, changed by all augmenters."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum):
        """(H, W, C) as (C, H, W)."""
        return ndarray.transpose(datum, axes=(2, 0, 1))

    def _sample(self):
        """(values (C, H, W), labels) of the next picture."""
        label, data = self.next_sample()
        data = self.imdecode(data)
        self.check_valid_image([data])
        data = self.postprocess_data(self.augmentation_transform(data))
        return data.asnumpy(), np.asarray(label)

    # Batches.

    def _samples(self, count):
        found = []
        while len(found) < count:
            try:
                found.append(self._sample())
            except StopIteration:
                break
        return found

    def next(self):
        """The next io.DataBatch; its `pad` counts samples that were padded or, in a round
        that begins with kept ones, that are new."""
        if self._ended:
            raise StopIteration
        kept, self._waiting = self._waiting, []
        samples = kept + self._samples(self.batch_size - len(kept))
        pad = self.batch_size - len(kept) if kept else 0
        if len(samples) < self.batch_size:
            self._ended = True
            if not samples or self.last_batch_handle == "discard":
                raise StopIteration
            if self.last_batch_handle == "roll_over":
                self._waiting = samples
                raise StopIteration
            pad = self.batch_size - len(samples)
            while len(samples) < self.batch_size:
                self._begin()
                more = self._samples(self.batch_size - len(samples))
                if not more:
                    raise StopIteration
                samples += more
        data, labels = self._batch(samples)
        return io.DataBatch([ndarray.array(data, dtype=self.dtype)],
                            [ndarray.array(labels, dtype=labels.dtype)], pad=pad)

    def _batch(self, samples):
        """Pictures and labels side by side."""
        labels = np.zeros(self._label_shape(self.batch_size), dtype=np.float32)
        for i, (_, label) in enumerate(samples):
            labels[i] = label.reshape(-1)[0] if self.label_width == 1 else label
        return np.stack([values for values, _ in samples]), labels
