# SPDX-License-Identifier: Apache-2.0
"""mxc.mxnet.gluon.data, image and contrib: samples, pictures, words."""

import gzip
import os
import struct
import time
from collections import Counter

import numpy as np
import pytest

import mxc.mxnet as mx
from mxc.mxnet import gluon
from mxc.mxnet.gluon import data as gdata
from mxc.mxnet.image import _codec


class Squares(gdata.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return mx.nd.array([i * i]), np.float32(i)


class Broken(Squares):
    def __getitem__(self, i):
        if i == 5:
            raise KeyError("sample 5")
        return i


class Slow(Squares):
    def __getitem__(self, i):
        time.sleep(60)


class Fatal(Squares):
    def __getitem__(self, i):
        os._exit(7)


# ---- Data sets and loaders ---------------------------------------------------------


@pytest.mark.parametrize("workers, threads", [(0, False), (2, False), (2, True)])
def test_loader_keeps_the_order(workers, threads):
    loader = gdata.DataLoader(Squares(), 4, num_workers=workers, thread_pool=threads)
    for _ in range(2):
        batches = list(loader)
        assert [len(x) for x, _ in batches] == [4, 4, 2] and len(loader) == 3
        x = np.concatenate([x.asnumpy() for x, _ in batches])
        np.testing.assert_array_equal(x[:, 0], np.arange(10) ** 2)
        assert batches[0][1].dtype == np.float32


@pytest.mark.parametrize("workers, threads", [(0, False), (2, False), (2, True)])
def test_errors_of_samples_reach_the_loop(workers, threads):
    loader = gdata.DataLoader(Broken(), 2, num_workers=workers, thread_pool=threads)
    with pytest.raises(KeyError, match="sample 5"):
        list(loader)


def test_a_sample_that_takes_too_long_is_an_error():
    loader = gdata.DataLoader(Slow(), 2, num_workers=1, timeout=1)
    began = time.time()
    with pytest.raises(RuntimeError, match="within 1 seconds"):
        next(iter(loader))
    del loader
    assert time.time() - began < 30


def test_a_worker_that_ends_is_an_error():
    with pytest.raises(RuntimeError, match="status 7"):
        list(gdata.DataLoader(Fatal(), 2, num_workers=1))


def test_two_loops_over_one_loader():
    loader = gdata.DataLoader(list(range(8)), 2, num_workers=2)
    first, second = iter(loader), iter(loader)
    next(first)
    assert [int(b.asnumpy()[0]) for b in second] == [0, 2, 4, 6]
    assert [int(b.asnumpy()[0]) for b in first] == [2, 4, 6]


def test_loader_refuses_what_contradicts_itself():
    with pytest.raises(ValueError, match="batch_size"):
        gdata.DataLoader([1, 2])
    with pytest.raises(ValueError, match="shuffle is not given"):
        gdata.DataLoader([1, 2], 1, shuffle=True, sampler=gdata.SequentialSampler(2))


def test_data_sets_of_data_sets():
    numbers = gdata.SimpleDataset(list(range(9)))
    assert list(numbers.filter(lambda x: x % 2)) == [1, 3, 5, 7]
    assert [list(numbers.shard(4, i)) for i in range(4)] == [
        [0, 1, 2], [3, 4], [5, 6], [7, 8]]
    assert list(numbers.take(2)) == [0, 1]
    assert list(numbers.transform(lambda x: -x).take(3)) == [0, -1, -2]
    pairs = gdata.ArrayDataset([1, 2], [3, 4]).transform_first(lambda x: 10 * x)
    assert [pairs[0], pairs[1]] == [(10, 3), (20, 4)]
    with pytest.raises(AssertionError, match="same length"):
        gdata.ArrayDataset([1], [1, 2])


def test_samplers():
    sequence = gdata.SequentialSampler(7)
    for last, want in (("keep", [3, 3, 1]), ("discard", [3, 3])):
        assert [len(b) for b in gdata.BatchSampler(sequence, 3, last)] == want
    rolled = gdata.BatchSampler(sequence, 3, "rollover")
    assert [list(rolled), list(rolled)] == [
        [[0, 1, 2], [3, 4, 5]], [[6, 0, 1], [2, 3, 4]]]
    assert sorted(gdata.RandomSampler(7)) == list(range(7))
    assert list(gluon.contrib.data.IntervalSampler(5, 2)) == [0, 2, 4, 1, 3]


def test_mnist_from_local_files(tmp_path):
    pictures = np.random.default_rng(1).integers(0, 256, (3, 28, 28), np.uint8)
    for name, array in (("t10k-images-idx3-ubyte", pictures),
                        ("t10k-labels-idx1-ubyte", np.array([7, 0, 9], np.uint8))):
        head = struct.pack(">I", 0x800 + array.ndim) + b"".join(
            struct.pack(">I", n) for n in array.shape)
        with gzip.open(tmp_path / (name + ".gz"), "wb") as file:
            file.write(head + array.tobytes())
    found = gdata.vision.MNIST(str(tmp_path), train=False)
    picture, label = found[2]
    np.testing.assert_array_equal(picture.asnumpy()[..., 0], pictures[2])
    assert label == 9 and label.dtype == np.int32 and picture.dtype == np.uint8
    with pytest.raises(OSError, match="train-labels-idx1-ubyte.gz"):
        gdata.vision.MNIST(str(tmp_path))


# ---- Pictures ----------------------------------------------------------------------


def picture(h=12, w=16, channels=3):
    return np.random.default_rng(2).integers(0, 256, (h, w, channels)).astype(np.uint8)


@pytest.fixture
def folder(tmp_path):
    """Five PNG files of two classes."""
    for i in range(5):
        path = tmp_path / ("cat" if i % 2 else "dog")
        path.mkdir(exist_ok=True)
        (path / f"{i}.png").write_bytes(_codec.encode(picture(20 + i, 24), ".png"))
    return tmp_path


def test_png_there_and_back():
    for channels in (1, 3):
        values = picture(channels=channels)
        data = _codec.encode(values, ".png")
        assert _codec.size_of(data) == (12, 16)
        decoded = mx.image.imdecode(data, flag=int(channels == 3))
        np.testing.assert_array_equal(decoded.asnumpy(), values)
    blue_first = mx.image.imdecode(_codec.encode(picture(), ".png"), to_rgb=False)
    np.testing.assert_array_equal(blue_first.asnumpy(), picture()[..., ::-1])


@pytest.mark.parametrize("data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"])
def test_what_is_no_picture_is_an_error(data):
    with pytest.raises(mx.MXNetError, match="imdecode"):
        mx.image.imdecode(data)


def test_a_file_that_is_not_there_is_an_error():
    with pytest.raises(mx.MXNetError, match="nowhere.png"):
        mx.image.imread("/nowhere.png")


def test_resizing_keeps_constants_and_halves_by_area():
    flat = mx.nd.array(np.full((9, 7, 3), 200), dtype="uint8")
    for interp in range(5):
        assert (mx.image.imresize(flat, 13, 4, interp).asnumpy() == 200).all()
    values = picture(8, 8)
    halved = mx.image.imresize(mx.nd.array(values, dtype="uint8"), 4, 4, 3).asnumpy()
    want = values.reshape(4, 2, 4, 2, 3).mean(axis=(1, 3))
    assert abs(halved - want).max() <= 0.5 + 1e-6
    with pytest.raises(mx.MXNetError, match="interp"):
        mx.image.imresize(flat, 2, 2, 7)


def test_crops():
    x = mx.nd.array(picture(), dtype="uint8")
    out, place = mx.image.center_crop(x, (4, 6))
    assert place == (6, 3, 4, 6)
    np.testing.assert_array_equal(out.asnumpy(), picture()[3:9, 6:10])
    for _ in range(20):
        out, (x0, y0, w, h) = mx.image.random_size_crop(x, (5, 5), (0.1, 0.9), (0.5, 2))
        assert out.shape == (5, 5, 3) and x0 + w <= 16 and y0 + h <= 12


def test_a_quarter_turn():
    values = np.arange(9, dtype=np.float32).reshape(1, 3, 3)
    turned = mx.image.imrotate(mx.nd.array(values), 90).asnumpy()
    np.testing.assert_allclose(turned[0], np.rot90(values[0]), atol=1e-4)
    with pytest.raises(ValueError, match="not both"):
        mx.image.imrotate(mx.nd.array(values), 1, zoom_in=True, zoom_out=True)


def test_transforms_for_training():
    transforms = gdata.vision.transforms
    x = mx.nd.array(picture(), dtype="uint8")
    out = transforms.Compose([transforms.Resize(8), transforms.ToTensor(),
                              transforms.Normalize(0.5, 0.25)])(x)
    assert out.shape == (3, 8, 8) and out.dtype == np.float32
    scaled = transforms.ToTensor()(x).asnumpy()
    np.testing.assert_allclose(scaled, picture().transpose(2, 0, 1) / 255, rtol=1e-6)
    assert transforms.RandomResizedCrop(6)(x).shape == (6, 6, 3)


def test_folders_of_pictures(folder):
    found = gdata.vision.ImageFolderDataset(str(folder))
    assert found.synsets == ["cat", "dog"] and len(found) == 5
    image, label = found[0]
    np.testing.assert_array_equal(image.asnumpy(), picture(21, 24))
    assert label == 0


@pytest.mark.parametrize("last, sizes", [("pad", [2, 2, 2]), ("discard", [2, 2]),
                                         ("roll_over", [2, 2])])
def test_image_iter(folder, last, sizes):
    files = [[float(i % 2), f"{'cat' if i % 2 else 'dog'}/{i}.png"] for i in range(5)]
    batches = mx.image.ImageIter(2, (3, 16, 16), imglist=files, path_root=str(folder),
                                 last_batch_handle=last)
    found = list(batches)
    assert [b.data[0].shape[0] for b in found] == sizes
    assert found[0].label[0].asnumpy().tolist() == [0, 1]
    if last == "pad":
        assert found[2].pad == 1
        np.testing.assert_array_equal(found[2].data[0][1].asnumpy(),
                                      found[0].data[0][0].asnumpy())
    if last == "roll_over":
        batches.reset()
        first = batches.next()
        np.testing.assert_array_equal(first.data[0][1].asnumpy(),
                                      found[0].data[0][0].asnumpy())


def test_image_det_iter_moves_boxes(folder):
    files = [[2, 5, 1.0, 0.1, 0.2, 0.4, 0.6] + ([3, 0.5, 0.5, 0.9, 0.9] if i == 1 else [])
             + [f"{'cat' if i % 2 else 'dog'}/{i}.png"] for i in range(4)]
    batches = mx.image.ImageDetIter(2, (3, 16, 16), imglist=files, path_root=str(folder))
    assert batches.label_shape == (2, 5)
    label = batches.next().label[0].asnumpy()
    np.testing.assert_allclose(label[0], [[1, 0.1, 0.2, 0.4, 0.6], [-1] * 5], rtol=1e-6)
    flip = mx.image.DetHorizontalFlipAug(1)
    _, moved = flip(mx.nd.array(picture()), label[0][:1])
    np.testing.assert_allclose(moved, [[1, 0.6, 0.2, 0.9, 0.6]], rtol=1e-6)


def test_random_crops_keep_boxes_within():
    crop = mx.image.DetRandomCropAug(min_object_covered=0.5, area_range=(0.3, 0.9))
    label = np.array([[0, 0.2, 0.2, 0.8, 0.8]])
    for _ in range(20):
        out, moved = crop(mx.nd.array(picture(40, 40)), label)
        assert out.shape[0] <= 40 and (moved[:, 1:] >= 0).all() and (moved[:, 1:] <= 1).all()


# ---- contrib -----------------------------------------------------------------------


def test_vocabulary():
    text = mx.contrib.text
    counter = text.utils.count_tokens_from_str("b a\nb c. b a", to_lower=True)
    assert counter == Counter({"b": 3, "a": 2, "c.": 1})
    words = text.vocab.Vocabulary(counter, min_freq=2, reserved_tokens=["<pad>"])
    assert words.idx_to_token == ["<unk>", "<pad>", "b", "a"]
    assert words.to_indices(["a", "zebra"]) == [3, 0]
    assert words.to_tokens(2) == "b"
    with pytest.raises(ValueError, match="no word 9"):
        words.to_tokens(9)


def test_embeddings(tmp_path):
    text = mx.contrib.text
    file = tmp_path / "vectors.txt"
    file.write_text("a 1 2\nb 3 4\n")
    vectors = text.embedding.CustomEmbedding(str(file))
    np.testing.assert_array_equal(
        vectors.get_vecs_by_tokens(["b", "A", "?"], lower_case_backup=True).asnumpy(),
        [[3, 4], [1, 2], [0, 0]])
    vectors.update_token_vectors("a", mx.nd.array([5, 6]))
    assert vectors.get_vecs_by_tokens("a").asnumpy().tolist() == [5, 6]
    both = text.embedding.CompositeEmbedding(text.vocab.Vocabulary(Counter("ab")),
                                             [vectors, vectors])
    assert both.vec_len == 4
    file.write_text("a 1 2\nb 3 4\nc 4 5 6\n")
    with pytest.raises(AssertionError, match="vectors.txt:3"):
        text.embedding.CustomEmbedding(str(file))


def test_loaders_as_iterators():
    loader = gdata.DataLoader(gdata.ArrayDataset(np.ones((5, 2), np.float32),
                                                 np.arange(5, dtype=np.float32)), 2)
    batches = list(mx.contrib.io.DataLoaderIter(loader))
    assert [b.pad for b in batches] == [0, 0, 1]
    assert batches[2].label[0].asnumpy().tolist() == [4, 0]


def test_older_autograd():
    grads, loss = mx.contrib.autograd.grad_and_loss(lambda x, y: x * x * y)(
        mx.nd.array([2.0]), mx.nd.array([3.0]))
    assert loss.asscalar() == 12 and [g.asscalar() for g in grads] == [12, 4]
