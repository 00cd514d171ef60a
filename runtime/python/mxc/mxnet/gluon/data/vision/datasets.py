# SPDX-License-Identifier: Apache-2.0
"""MNIST and CIFAR from local files, folders and record files of pictures."""
import gzip
import os
import struct
import tarfile
import warnings

import numpy as np

from .... import image, ndarray, recordio
from ..dataset import Dataset, RecordFileDataset

__all__ = ["MNIST", "FashionMNIST", "CIFAR10", "CIFAR100", "ImageRecordDataset",
           "ImageFolderDataset"]


def _root(name):
    home = os.environ.get("MXNET_HOME", os.path.join("~", ".mxnet"))
    return os.path.join(home, "datasets", name)


class _LocalDataset(Dataset):
    """Pictures and labels in memory, read from files in `root`."""

    def __init__(self, root, transform):
        self._transform = transform
        self._root = os.path.expanduser(root)
        self._data = self._label = None
        self._read()

    def __getitem__(self, idx):
        if self._transform is not None:
            return self._transform(self._data[idx], self._label[idx])
        return self._data[idx], self._label[idx]

    def __len__(self):
        return len(self._label)

    def _read(self):
        raise NotImplementedError

    def _path(self, *names):
        """The first of `names` that lies in the folder."""
        for name in names:
            path = os.path.join(self._root, name)
            if os.path.exists(path):
                return path
        raise OSError(f"{type(self).__name__}: mxc downloads nothing: put "
                      f"{' or '.join(names)} into {self._root}.")


class MNIST(_LocalDataset):
    """Handwritten digits: (28, 28, 1) uint8 and an int32 label; 60,000, or 10,000 to test.

    `root` has train-images-idx3-ubyte.gz and its fellows, packed or not."""

    def __init__(self, root=_root("mnist"), train=True, transform=None):
        self._train = train
        super().__init__(root, transform)

    def _read(self):
        part = "train" if self._train else "t10k"
        labels = _idx(self._path(f"{part}-labels-idx1-ubyte.gz", f"{part}-labels-idx1-ubyte"))
        pictures = _idx(self._path(f"{part}-images-idx3-ubyte.gz",
                                   f"{part}-images-idx3-ubyte"))
        self._label = labels.astype(np.int32)
        self._data = ndarray.array(pictures[..., np.newaxis], dtype=np.uint8)


class FashionMNIST(MNIST):
    """Clothes, in the files and shapes of MNIST."""

    def __init__(self, root=_root("fashion-mnist"), train=True, transform=None):
        super().__init__(root, train, transform)


def _idx(path):
    """The array of a file in MNIST's format."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        magic, = struct.unpack(">I", file.read(4))
        if magic >> 8 != 8:
            raise ValueError(f"{path} is not a file of bytes in MNIST's format.")
        shape = struct.unpack(">" + "I" * (magic & 255), file.read(4 * (magic & 255)))
        values = np.frombuffer(file.read(), dtype=np.uint8)
    if values.size != np.prod(shape, dtype=np.int64):
        raise ValueError(f"{path} has {values.size} bytes, its head says {shape}.")
    return values.reshape(shape)


class CIFAR10(_LocalDataset):
    """Small photos: (32, 32, 3) uint8 and an int32 label; 50,000, or 10,000 to test.

    `root` has data_batch_1.bin and its fellows, or cifar-10-binary.tar.gz."""

    _archive = "cifar-10-binary.tar.gz"
    _labels = 1  # bytes before each picture

    def __init__(self, root=_root("cifar10"), train=True, transform=None):
        self._train = train
        super().__init__(root, transform)

    def _files(self):
        if not self._train:
            return ["test_batch.bin"]
        return [f"data_batch_{i}.bin" for i in range(1, 6)]

    def _column(self):
        return 0

    def _read(self):
        packed = os.path.join(self._root, self._archive)
        rows = np.concatenate([self._rows(name, packed) for name in self._files()])
        rows = rows.reshape(-1, self._labels + 3 * 32 * 32)
        pictures = rows[:, self._labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self._data = ndarray.array(np.ascontiguousarray(pictures), dtype=np.uint8)
        self._label = rows[:, self._column()].astype(np.int32)

    def _rows(self, name, packed):
        if not os.path.exists(os.path.join(self._root, name)) and os.path.exists(packed):
            with tarfile.open(packed) as archive:
                for member in archive:
                    if os.path.basename(member.name) == name:
                        return np.frombuffer(archive.extractfile(member).read(), dtype=np.uint8)
        return np.fromfile(self._path(name, self._archive), dtype=np.uint8)


class CIFAR100(CIFAR10):
    """Small photos of 100 classes, or of 20 without `fine_label`; else like CIFAR10."""

    _archive = "cifar-100-binary.tar.gz"
    _labels = 2

    def __init__(self, root=_root("cifar100"), fine_label=False, train=True, transform=None):
        self._fine_label = fine_label
        super().__init__(root, train, transform)

    def _files(self):
        return ["train.bin" if self._train else "test.bin"]

    def _column(self):
        return 1 if self._fine_label else 0


class ImageRecordDataset(RecordFileDataset):
    """Pictures and labels of a record file (im2rec's): (H, W, C) uint8, `flag` 0 grey."""

    def __init__(self, filename, flag=1, transform=None):
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx):
        header, picture = recordio.unpack(super().__getitem__(idx))
        picture = image.imdecode(picture, self._flag)
        if self._transform is not None:
            return self._transform(picture, header.label)
        return picture, header.label

    def __getstate__(self):
        return dict(super().__getstate__(), _flag=self._flag, _transform=self._transform)


class ImageFolderDataset(Dataset):
    """Pictures in folders, one for each class: `synsets` are the classes' names."""

    _endings = (".jpg", ".jpeg", ".png", ".npy")

    def __init__(self, root, flag=1, transform=None):
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self.synsets = []
        self.items = []
        for folder in sorted(os.listdir(self._root)):
            path = os.path.join(self._root, folder)
            if not os.path.isdir(path):
                warnings.warn(f"{path} is passed over: it is no folder.", stacklevel=2)
                continue
            label = len(self.synsets)
            self.synsets.append(folder)
            for name in sorted(os.listdir(path)):
                if name.lower().endswith(self._endings):
                    self.items.append((os.path.join(path, name), label))
                else:
                    warnings.warn(f"{os.path.join(path, name)} is passed over: it is none of "
                                  f"{', '.join(self._endings)}.", stacklevel=2)

    def __getitem__(self, idx):
        path, label = self.items[idx]
        picture = ndarray.array(np.load(path)) if path.endswith(".npy") else \
            image.imread(path, self._flag)
        return self._transform(picture, label) if self._transform is not None else \
            (picture, label)

    def __len__(self):
        return len(self.items)
