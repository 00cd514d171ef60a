# SPDX-License-Identifier: Apache-2.0
"""Data of tests and examples, where it lies: in data/, or in the folder cases/data of
$MXC_SHARED. What is not there is downloaded, where a network is."""

import glob
import gzip
import os
import shutil
import struct
import time
import urllib.error
import urllib.request

import numpy as np

_MNIST = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte",
          "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def _shared(name):
    """The path of a file of this name among the shared data, or None."""
    shared = os.environ.get("MXC_SHARED")
    found = glob.glob(os.path.join(glob.escape(shared or ""), "cases", "data", "*",
                                   glob.escape(name))) if shared else []
    return found[0] if found else None


def download(url, fname=None, dirname=None, overwrite=False, retries=5):
    """The path of a file, fetched unless it is there."""
    name = fname or url.split("/")[-1]
    if dirname is not None:
        name = os.path.join(dirname, name)
        os.makedirs(dirname, exist_ok=True)
    if os.path.exists(name) and not overwrite:
        return name
    here = _shared(url.split("/")[-1])
    if here is not None:
        shutil.copyfile(here, name)
        return name
    for turn in range(retries):
        try:
            with urllib.request.urlopen(url, timeout=30) as source:
                with open(name + ".part", "wb") as file:
                    shutil.copyfileobj(source, file)
            os.replace(name + ".part", name)
            return name
        except urllib.error.HTTPError:
            raise
        except OSError:
            if turn == retries - 1:
                raise
            time.sleep(0.1)
    return name


def _refuse(what):
    raise NotImplementedError(f"{what}: this data is not here")


def get_mnist():
    """A dict of MNIST: train_data, test_data (samples, 1, 28, 28) from 0 to 1;
    train_label, test_label."""
    get_mnist_ubyte()
    found = {}
    for kind, part in (("train", "train"), ("t10k", "test")):
        images = _read_idx(f"data/{kind}-images-idx3-ubyte")
        found[f"{part}_data"] = images[:, None].astype(np.float32) / 255
        found[f"{part}_label"] = _read_idx(f"data/{kind}-labels-idx1-ubyte")
    return found


def _read_idx(path):
    with open(path, "rb") as file:
        rank = struct.unpack(">I", file.read(4))[0] & 0xff
        shape = struct.unpack(f">{rank}I", file.read(4 * rank))
        return np.frombuffer(file.read(), np.uint8).reshape(shape)


def get_mnist_ubyte():
    """Puts MNIST's four files into data/; refused where they are nowhere."""
    for name in _MNIST:
        path = os.path.join("data", name)
        if os.path.exists(path):
            continue
        packed = _shared(name + ".gz")
        if packed is None:
            _refuse("get_mnist_ubyte")
        os.makedirs("data", exist_ok=True)
        with gzip.open(packed) as source, open(path + ".part", "wb") as file:
            shutil.copyfileobj(source, file)
        os.replace(path + ".part", path)


def get_mnist_pkl():
    """Refused unless the file lies in data/."""
    if not os.path.exists(os.path.join("data", "mnist.pkl.gz")):
        _refuse("get_mnist_pkl")


def get_mnist_iterator(batch_size, input_shape, num_parts=1, part_index=0):
    """Iterators of training and validation over the files of get_mnist_ubyte."""
    from .. import io
    get_mnist_ubyte()
    flat = len(input_shape) == 1
    return tuple(
        io.MNISTIter(image=f"data/{kind}-images-idx3-ubyte",
                     label=f"data/{kind}-labels-idx1-ubyte", input_shape=input_shape,
                     batch_size=batch_size, shuffle=kind == "train", flat=flat,
                     num_parts=num_parts, part_index=part_index)
        for kind in ("train", "t10k"))


def get_cifar10():
    """Refused unless the files lie in data/cifar."""
    if not os.path.exists(os.path.join("data", "cifar", "train.rec")):
        _refuse("get_cifar10")


def get_zip_data(data_dir, url, data_origin_name):
    """Refused."""
    _refuse("get_zip_data")


def get_bz2_data(data_dir, data_name, url, data_origin_name):
    """Refused."""
    _refuse("get_bz2_data")


def download_model(model_name, dst_dir="./", meta_info=None):
    """Refused."""
    _refuse("download_model")


def get_im2rec_path(home_env="MXNET_HOME"):
    """Refused: im2rec is not here."""
    raise NotImplementedError("get_im2rec_path: im2rec is not here")


class DummyIter:
    """An iterator that gives the first batch of another without end."""

    def __init__(self, real_iter):
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.batch_size = real_iter.batch_size
        self.the_batch = next(iter(real_iter))

    def __iter__(self):
        return self

    def next(self):
        """The batch."""
        return self.the_batch

    __next__ = next

    def reset(self):
        """There is nothing to begin again."""
