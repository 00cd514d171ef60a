# SPDX-License-Identifier: Apache-2.0
"""What MXNet's example scripts do, beside the tests of each part of mxc.mxnet: wide
sparse files, rows of parameters, options of pictures, values that are set while they
are recorded, names that refuse. Values from mathematics and NumPy."""
import subprocess
import sys

import numpy as np
import pytest

import mxc.mxnet as mx
from mxc.mxnet import autograd, gluon
from pictures import write_png


def lines_of(tmp_path, *lines):
    file = tmp_path / "data.libsvm"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


# ---- Lines of LibSVM ---------------------------------------------------------

def test_a_million_columns_take_what_is_named(tmp_path):
    file = lines_of(tmp_path, "1 0:0.5 999999:2", "0 # nothing", "1 qid:3 7:1")
    batches = mx.io.LibSVMIter(data_libsvm=file, data_shape=(1000000,), batch_size=2)
    first = next(batches)
    assert first.data[0].shape == (2, 1000000)
    assert first.data[0].indices.asnumpy().tolist() == [0, 999999]
    assert first.label[0].asnumpy().tolist() == [1, 0]
    weight = mx.nd.ones((1000000, 3))
    np.testing.assert_array_equal(mx.nd.sparse.dot(first.data[0], weight).asnumpy(),
                                  [[2.5] * 3, [0] * 3])


def test_the_last_batch_goes_on_with_the_first_rows(tmp_path):
    file = lines_of(tmp_path, "0 0:1", "1 0:2", "2 0:3")
    batches = mx.io.LibSVMIter(data_libsvm=file, data_shape=(1,), batch_size=2)
    seen = [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in batches]
    assert seen == [([0, 1], 0), ([2, 0], 1)]
    batches.reset()  # behind the row that filled up
    assert [batch.label[0].asnumpy().tolist() for batch in batches] == [[1, 2]]


def test_parts_of_a_file_are_all_its_rows(tmp_path):
    file = lines_of(tmp_path, *(f"{i} 0:1" for i in range(7)))
    rows = []
    for part in range(3):
        batches = mx.io.LibSVMIter(data_libsvm=file, data_shape=(1,), batch_size=1,
                                   num_parts=3, part_index=part)
        rows += [int(batch.label[0].asscalar()) for batch in batches]
    assert rows == list(range(7))


@pytest.mark.parametrize(("line", "found"), [
    ("1 5:1", "index 5 exceeds the 3 features"), ("1 2 0:1", "2 labels, expected 1"),
    ("1 x:1", "could not convert")])
def test_wrong_lines_are_sentences(tmp_path, line, found):
    with pytest.raises(mx.MXNetError, match=found):
        mx.io.LibSVMIter(data_libsvm=lines_of(tmp_path, "0 1:1", line),
                         data_shape=(3,), batch_size=1)


# ---- Rows of parameters ------------------------------------------------------

def test_a_module_prepares_the_rows_that_a_batch_reads():
    rows, width = 1000, 2
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", shape=(rows, width), stype="row_sparse",
                             init=mx.init.One())
    net = mx.sym.LinearRegressionOutput(mx.sym.sparse.dot(data, weight), name="out")
    csr = mx.nd.sparse.csr_matrix(([1.0, 2.0], [3, 5], [0, 1, 2]), shape=(2, rows))
    batch = mx.io.DataBatch([csr], [mx.nd.zeros((2, width))])
    module = mx.mod.Module(net, label_names=["out_label"])
    module.bind([mx.io.DataDesc("data", (2, rows))],
                [mx.io.DataDesc("out_label", (2, width))])
    module.init_params()
    module.init_optimizer(mx.kv.create("local"), optimizer_params={
        "learning_rate": 1.0, "rescale_grad": 1.0})
    for _ in range(2):
        module.prepare(batch, sparse_row_id_fn=lambda batch: {
            "weight": batch.data[0].indices})
        module.forward_backward(batch)
        module.update()
    arrays, _ = module.get_params()
    assert arrays["weight"].stype == "row_sparse"
    # w -= x * (x w) / width, twice.
    want = np.ones((rows, width))
    for row, x in ((3, 1.0), (5, 2.0)):
        want[row] *= (1 - x * x / width) ** 2
    np.testing.assert_allclose(arrays["weight"].asnumpy(), want, rtol=1e-6)


# ---- Iterators ---------------------------------------------------------------

def test_arrays_of_an_iterator():
    batches = mx.io.NDArrayIter(np.eye(3), np.arange(3), batch_size=2, shuffle=True)
    (name, data), = batches.data
    assert name == "data" and isinstance(data, mx.nd.NDArray)
    np.testing.assert_array_equal(data.asnumpy(), np.eye(3))
    np.testing.assert_array_equal(batches.label[0][1].asnumpy(), [0, 1, 2])


@pytest.fixture
def pictures(tmp_path):
    """Two grey pictures of 8 by 8 in a .rec file; values 100 and 200."""
    file = mx.recordio.MXRecordIO(str(tmp_path / "p.rec"), "w")
    for label, value in enumerate((100, 200)):
        write_png(tmp_path / "p.png", np.full((8, 8, 3), value, np.uint8))
        file.write(mx.recordio.pack(mx.recordio.IRHeader(0, label, label, 0),
                                    (tmp_path / "p.png").read_bytes()))
    file.close()
    return str(tmp_path / "p.rec")


# As image-classification/common gives them, where they change nothing.
PLAIN = dict(path_imgidx="", label_width=1, data_shape=(3, 8, 8), batch_size=2,
             rand_crop=0, max_random_scale=1, min_random_scale=1, pad=0,
             fill_value=127, random_resized_crop=0, max_aspect_ratio=0,
             min_aspect_ratio=None, max_random_area=1, min_random_area=1,
             min_crop_size=-1, max_crop_size=-1, brightness=0, contrast=0,
             saturation=0, pca_noise=0, random_h=0, random_s=0, random_l=0,
             max_rotate_angle=0, max_shear_ratio=0, rand_mirror=0,
             preprocess_threads=1, shuffle=False)


def test_options_of_pictures_that_change_nothing(pictures):
    batch = next(mx.io.ImageRecordIter(path_imgrec=pictures, **PLAIN))
    np.testing.assert_array_equal(batch.data[0].asnumpy()[:, 0, 0, 0], [100, 200])
    assert batch.label[0].asnumpy().tolist() == [0, 1]


def test_pca_noise_moves_colours_alike_everywhere(pictures):
    batch = next(mx.io.ImageRecordIter(path_imgrec=pictures, **{
        **PLAIN, "pca_noise": 0.1, "std_r": 2.0}))
    data = batch.data[0].asnumpy()
    assert np.ptp(data, axis=(2, 3)).max() < 1e-4
    moved = data[:, :, 0, 0] - [[50, 100, 100], [100, 200, 200]]
    assert (0 < np.abs(moved)).all() and np.abs(moved).max() < 40


def test_aspects_without_a_crop_of_their_own_are_refused(pictures):
    with pytest.raises(NotImplementedError, match="random_resized_crop"):
        mx.io.ImageRecordIter(path_imgrec=pictures, **{**PLAIN, "max_aspect_ratio": 0.2})


# ---- Gradients ---------------------------------------------------------------

def test_heads_behind_those_with_gradients_are_losses():
    x = mx.sym.Variable("x")
    net = mx.sym.Group([2 * x, mx.sym.MakeLoss(3 * x), mx.sym.BlockGrad(x)])
    executor = net.bind(mx.cpu(), {"x": mx.nd.ones(2)}, {"x": mx.nd.zeros(2)})
    executor.forward(is_train=True)
    executor.backward([mx.nd.array([1, 10])])
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [5, 23])


class Powers(gluon.Block):
    """x · W with a vector that each call changes while it is recorded, as spectral
    normalization does."""

    def __init__(self, **kwargs):
        super().__init__()
        self.vector = self.params.get("vector", shape=(1, 2), init=mx.init.One(), **kwargs)

    def forward(self, x):
        vector = self.vector.data()
        result = mx.nd.dot(vector, x)
        with autograd.pause():
            self.vector.set_data(vector * 3)
        return result


@pytest.mark.parametrize("kwargs", [{}, {"grad_req": "null"}])
def test_a_parameter_is_set_while_it_is_recorded(kwargs):
    block = Powers(**kwargs)
    block.initialize()
    trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.0})
    x = mx.nd.array([[1, 2], [3, 4]])
    x.attach_grad()
    for factor in (1, 3):
        with autograd.record():
            y = block(x)
        y.backward()
        trainer.step(1)
        np.testing.assert_array_equal(x.grad.asnumpy(), np.full((2, 2), factor))
    np.testing.assert_array_equal(block.vector.data().asnumpy(), [[9, 9]])
    if not kwargs:
        np.testing.assert_array_equal(block.vector.grad().asnumpy(), [[3, 7]])


# ---- Names -------------------------------------------------------------------

def test_what_is_not_there_says_so(tmp_path):
    file = tmp_path / "operators.so"
    file.write_bytes(b"")
    with pytest.raises(mx.MXNetError, match="does NOT exist"):
        mx.library.load(str(tmp_path / "none.so"))
    for refused in (lambda: mx.library.load(str(file)), lambda: mx.rtc.CudaModule(""),
                    lambda: mx.contrib.quantization.quantize_model(),
                    lambda: mx.contrib.onnx.import_model("net.onnx")):
        with pytest.raises(NotImplementedError):
            refused()


def test_a_batch_is_shared_out_by_loads():
    split = mx.executor_manager._split_input_slice
    assert split(10, [1, 1, 1]) == [slice(0, 3), slice(3, 6), slice(6, 10)]
    assert split(9, [2, 1]) == [slice(0, 6), slice(6, 9)]
    with pytest.raises(ValueError):
        split(1, [1, 1, 1])


def test_modules_by_the_paths_that_scripts_import(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import mxnet as mx
from mxnet.rnn.rnn_cell import LSTMCell
from mxnet.io.io import DataDesc
from mxnet.optimizer.optimizer import SGD
from mxnet.contrib.quantization import *
assert LSTMCell is mx.rnn.LSTMCell and SGD is mx.optimizer.SGD
assert callable(quantize_model) and DataDesc is mx.io.DataDesc
try:
    import mxnet.io.io.nothing
except ImportError:
    print("as it should be")
""")
    done = subprocess.run([sys.executable, "-m", "mxc.mxnet", str(script)],
                          capture_output=True, text=True)
    assert done.stdout == "as it should be\n", done.stderr


def test_shapes_of_both_directions_follow_from_a_call():
    class Sorts(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.layer = gluon.rnn.LSTM(3, layout="NTC", bidirectional=True)
                self.out = gluon.nn.Dense(5, flatten=False)

        def hybrid_forward(self, F, x):
            return self.out(self.layer(F.one_hot(x, 7)))

    net = Sorts()
    net.initialize()
    net.hybridize()
    with autograd.record():
        y = net(mx.nd.ones((2, 4)))
    assert y.shape == (2, 4, 5)
    assert net.layer.l0_i2h_weight.shape == net.layer.r0_i2h_weight.shape == (12, 7)
    compiled = y.asnumpy()
    net.hybridize(False)
    np.testing.assert_allclose(net(mx.nd.ones((2, 4))).asnumpy(), compiled, rtol=1e-5)


def test_rows_of_a_large_array_are_taken_by_their_numbers():
    # The dense operator would compare each row with each number.
    store = mx.kv.create("local")
    array = mx.nd.ones((200000, 1)).tostype("row_sparse")
    array._array  # dense from here on, as executors keep it
    store.init("a", array)
    store.push("a", array)
    found = mx.nd.sparse.zeros("row_sparse", array.shape)
    store.row_sparse_pull("a", out=found, row_ids=mx.nd.arange(200000, dtype="int64"))
    assert found.data.shape == array.shape
    kept = mx.nd.sparse.retain(array, mx.nd.array([3, 199999]))
    assert kept.indices.asnumpy().tolist() == [3, 199999]
