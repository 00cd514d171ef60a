# SPDX-License-Identifier: Apache-2.0
"""mx.io and mx.recordio: rows of batches, epochs, files."""

import gzip
import pickle
import struct

import numpy as np
import pytest

import mxc.mxnet as mx


def rows_of(iterator):
    return [batch.data[0].asnumpy()[:, 0].astype(int).tolist()
            for batch in iterator]


@pytest.mark.parametrize("handle, first, second", [
    ("pad", [[0, 1, 2], [3, 4, 5], [6, 0, 1]], [[0, 1, 2], [3, 4, 5], [6, 0, 1]]),
    ("discard", [[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]]),
    ("roll_over", [[0, 1, 2], [3, 4, 5]], [[6, 0, 1], [2, 3, 4]])])
def test_last_batches(handle, first, second):
    data = np.arange(14).reshape(7, 2) // 2
    found = mx.io.NDArrayIter(data, data[:, 0], 3, last_batch_handle=handle)
    assert rows_of(found) == first
    found.reset()
    assert rows_of(found) == second


def test_padding_goes_round():
    found = mx.io.NDArrayIter(np.arange(3), batch_size=7)
    batch = found.next()
    assert batch.data[0].asnumpy().tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert batch.pad == 4 and batch.label == []
    with pytest.raises(StopIteration):
        found.next()


def test_names_and_shapes():
    found = mx.io.NDArrayIter({"b": np.ones((4, 2)), "a": np.ones((4, 3, 1))},
                              [np.zeros(4), np.zeros(4)], 2)
    assert [(d.name, d.shape) for d in found.provide_data] == [
        ("a", (2, 3, 1)), ("b", (2, 2))]
    assert [d.name for d in found.provide_label] == ["_0_softmax_label",
                                                     "_1_softmax_label"]


def test_shuffled_rows_keep_their_labels():
    data = np.arange(20)
    found = mx.io.NDArrayIter(data, data, 5, shuffle=True)
    batches = [(b.data[0].asnumpy(), b.label[0].asnumpy()) for b in found]
    for x, y in batches:
        assert (x == y).all()
    assert sorted(np.concatenate([x for x, _ in batches])) == list(range(20))


def test_resized_and_prefetched():
    data = np.arange(6).reshape(6, 1)
    resized = mx.io.ResizeIter(mx.io.NDArrayIter(data, batch_size=3), 3)
    assert rows_of(resized) == [[0, 1, 2], [3, 4, 5], [0, 1, 2]]
    ahead = mx.io.PrefetchingIter(
        [mx.io.NDArrayIter(data, batch_size=2),
         mx.io.NDArrayIter(data + 6, batch_size=2)],
        rename_data=[{"data": "x"}, {"data": "y"}])
    for _ in range(2):
        assert [d.name for d in ahead.provide_data] == ["x", "y"]
        assert [[a.asnumpy()[0, 0] for a in batch.data] for batch in ahead] == [
            [0, 6], [2, 8], [4, 10]]
        ahead.reset()


def test_mnist(tmp_path):
    images = np.arange(5 * 4).reshape(5, 2, 2).astype("uint8")
    with gzip.open(tmp_path / "images.gz", "wb") as file:
        file.write(struct.pack(">iiii", 0x803, 5, 2, 2) + images.tobytes())
    (tmp_path / "labels").write_bytes(struct.pack(">ii", 0x801, 5)
                                      + bytes([3, 1, 4, 1, 5]))
    found = mx.io.MNISTIter(image=str(tmp_path / "images.gz"), batch_size=2,
                            label=str(tmp_path / "labels"), shuffle=False,
                            flat=False, silent=True, input_shape=(1, 2, 2))
    assert found.provide_data[0].shape == (2, 1, 2, 2)
    for _ in range(2):
        batches = list(found)
        assert [b.label[0].asnumpy().tolist() for b in batches] == [[3, 1],
                                                                    [4, 1]]
        np.testing.assert_allclose(batches[1].data[0].asnumpy()[0, 0],
                                   images[2] / 256)
        found.reset()
    with pytest.raises(mx.MXNetError):
        mx.io.MNISTIter(image="/no/such/file", label="/no/such/file")


def test_csv(tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n3,4\n5,6\n")
    (tmp_path / "y.csv").write_text("0\n1\n2\n")
    found = mx.io.CSVIter(data_csv=str(tmp_path / "x.csv"), data_shape=(2,),
                          label_csv=str(tmp_path / "y.csv"), batch_size=2,
                          round_batch=False)
    batches = list(found)
    assert batches[0].data[0].asnumpy().tolist() == [[1, 2], [3, 4]]
    assert batches[0].label[0].asnumpy().ravel().tolist() == [0, 1]
    assert batches[1].pad == 1


def test_records(tmp_path):
    path, index = str(tmp_path / "a.rec"), str(tmp_path / "a.idx")
    mark = struct.pack("<I", 0xced7230a)
    records = [b"", b"abc", mark, b"1234" + mark + b"56" + mark + mark, mark * 3]
    writer = mx.recordio.MXIndexedRecordIO(index, path, "w")
    for key, record in enumerate(records):
        writer.write_idx(key, record)
    writer.close()
    reader = mx.recordio.MXRecordIO(path, "r")
    assert [reader.read() for _ in range(6)] == [*records, None]
    again = pickle.loads(pickle.dumps(
        mx.recordio.MXIndexedRecordIO(index, path, "r")))
    assert again.keys == [0, 1, 2, 3, 4]
    assert [again.read_idx(key) for key in (3, 0, 2)] == [
        records[3], records[0], records[2]]


def test_the_data_say_how_many_rows_are_read():
    batches = list(mx.io.NDArrayIter(np.arange(3), {"label": np.arange(5)}, 2))
    assert [batch.label[0].asnumpy().tolist() for batch in batches] == [[0, 1], [2, 0]]
    with pytest.raises(ValueError):
        mx.io.NDArrayIter(np.arange(3), np.arange(2), 2)


def test_rows_that_roll_over_are_told():
    batches = mx.io.NDArrayIter(np.arange(3), batch_size=2,
                                last_batch_handle="roll_over")
    assert [batch.pad for batch in batches] == [0]
    batches.reset()
    found = [(batch.data[0].asnumpy().tolist(), batch.pad) for batch in batches]
    assert found == [([2, 0], 1), ([1, 2], 0)]


def test_damaged_records(tmp_path):
    path = tmp_path / "a.rec"
    path.write_bytes(struct.pack("<II", 0xced7230a, 100) + b"short")
    with pytest.raises(IOError):
        mx.recordio.MXRecordIO(str(path), "r").read()
    path.write_bytes(b"nonsense")
    with pytest.raises(IOError):
        mx.recordio.MXRecordIO(str(path), "r").read()


def test_headers():
    packed = mx.recordio.pack(mx.recordio.IRHeader(0, 2.5, 7, 0), b"x")
    assert packed == struct.pack("<IfQQ", 0, 2.5, 7, 0) + b"x"
    header, content = mx.recordio.unpack(
        mx.recordio.pack((0, [1, 2, 3], 9, 0), b"yz"))
    assert header.label.tolist() == [1, 2, 3] and header.flag == 3
    assert header.id == 9 and content == b"yz"
