# SPDX-License-Identifier: Apache-2.0
"""Artifacts in Python: arrays in and out, threads, errors."""
import inspect
import json
import pathlib
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import mxc
from mxc._words import in_python

SMALL = {"mxc": 1, "name": "small", "inputs": {"data": [2, 3]},
         "nodes": [{"op": "FullyConnected", "name": "fc", "num_hidden": 4}]}


def small(**more):
    weight = np.arange(12, dtype=np.float32).reshape(4, 3)
    bias = np.array([1, 2, 3, 4], np.float32)
    return mxc.compile(SMALL, params={"fc_weight": weight, "fc_bias": bias},
                       **more), weight, bias


def test_values_are_those_of_numpy():
    model, weight, bias = small()
    x = np.array([[1, 2, 3], [-1, 0, 5]], np.float32)
    assert np.array_equal(model(x), x @ weight.T + bias)
    assert np.array_equal(model(data=x), model(x))


def test_weights_of_fewer_bits():
    rng = np.random.default_rng(3)
    net = {"mxc": 1, "inputs": {"data": [2, 64]},
           "nodes": [{"op": "FullyConnected", "name": "fc", "num_hidden": 64,
                      "no_bias": True}]}
    weight = rng.normal(size=(64, 64)).astype(np.float32)
    weight[:, 0] = 127  # so that levels are whole numbers
    whole = np.rint(weight)
    x = rng.normal(size=(2, 64)).astype(np.float32)
    narrow = mxc.compile(net, params={"fc_weight": weight}, weights="int8")
    assert np.allclose(narrow(x), x @ whole.T, rtol=1e-5, atol=1e-4)
    kept = mxc.compile(net, params={"fc_weight": weight}, weights="int8",
                       keep_weights=["fc_*"])
    assert np.allclose(kept(x), x @ weight.T, rtol=1e-5, atol=1e-4)
    with pytest.raises(mxc.CompileError, match="weights 'int3' are unknown"):
        mxc.compile(SMALL, init="xavier", weights="int3")
    with pytest.raises(mxc.CompileError, match="weights= is for weights that"):
        mxc.compile(SMALL, init="xavier", weights="int8", entries=["train"])


def test_layers_that_read_all_digits():
    net = {"mxc": 1, "inputs": {"data": [64, 64]},
           "nodes": [{"op": "FullyConnected", "name": "fc", "num_hidden": 64,
                      "no_bias": True},
                     {"op": "_plus_scalar", "name": "far", "scalar": 256.0},
                     {"op": "FullyConnected", "name": "last", "num_hidden": 64,
                      "no_bias": True}]}
    one = np.eye(64, dtype=np.float32)
    x = np.full((64, 64), 0.5, np.float32)
    given = {"params": {"fc_weight": one, "last_weight": one},
             "precision": "bf16", "target": "x86-64-v2"}
    # bf16 has eight digits: of 256.5 it keeps 256.
    kept = mxc.compile(net, keep_layers="last", **given)
    assert np.array_equal(kept(x), x + 256)
    assert kept.manifest["kept_layer"] == "last"
    with pytest.raises(mxc.CompileError, match=r"keep_layers=\['lost'\] names"):
        mxc.compile(net, keep_layers="lost", **given)


def test_rows_that_data_decide():
    net = {"mxc": 1, "inputs": {"data": [4, 2], "mask": [4]},
           "nodes": [{"op": "_contrib_boolean_mask", "name": "rows",
                      "inputs": ["data", "mask"]},
                     {"op": "sum", "name": "sum", "axis": [0]}],
           "outputs": ["rows", "sum"]}
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    whole, three = mxc.compile(net), mxc.compile(net, bounds={"rows": 3})
    for model, most in ((whole, 4), (three, 3)):
        outputs = {t.name: t for t in model.entries[0].outputs}
        assert outputs["rows_output"].shape == (most, 2)
        assert outputs["count:rows_output"].use == "count"
        for picked in ([1, 3], [0], [], [0, 1, 2]):
            mask = np.isin(range(4), picked).astype(np.float32)
            rows, total, count = model(x, mask)
            assert np.array_equal(rows, x[picked])
            assert np.array_equal(total, x[picked].sum(axis=0))
            assert count == [len(picked)]
    ones = np.ones(4, np.float32)
    assert np.array_equal(whole(x, ones)[0], x)
    with pytest.raises(mxc.Error, match="'rows': data decide on more rows"):
        three(x, ones)
    with pytest.raises(ValueError, match="how many rows output 'rows_output'"):
        whole(np.vstack([x, x]), np.ones(8, np.float32))
    with pytest.raises(mxc.CompileError, match=r'bounds=\{"sum": …\} names no'):
        mxc.compile(net, bounds={"sum": 3})
    with pytest.raises(mxc.CompileError, match="'rows': 0 rows, expected 1"):
        mxc.compile(net, bounds={"rows": 0})


def test_parameters_from_files(tmp_path):
    model, weight, bias = small()
    np.savez(tmp_path / "a.npz", fc_weight=weight, fc_bias=bias)
    np.savez_compressed(tmp_path / "b.npz", fc_weight=weight, fc_bias=bias)
    header = json.dumps({
        "fc_bias": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
        "fc_weight": {"dtype": "F32", "shape": [4, 3],
                      "data_offsets": [16, 64]}}).encode()
    (tmp_path / "c.safetensors").write_bytes(
        len(header).to_bytes(8, "little") + header + bias.tobytes() +
        weight.tobytes())
    x = np.ones((2, 3), np.float32)
    for name in ("a.npz", "b.npz", "c.safetensors"):
        found = mxc.compile(SMALL, params=tmp_path / name)
        assert np.array_equal(found(x), model(x)), name


def test_batches_choose_entries(mlp, images):
    eight = mlp(images)
    assert eight.shape == (8, 10)
    for row in range(8):
        assert np.allclose(mlp(images[row:row + 1]), eight[row], atol=1e-6)
    with pytest.raises(ValueError, match=r"\(1, 1, 28, 28\).*\(8, 1, 28, 28\)"):
        mlp(images[:, 0])


@pytest.mark.parametrize("samples", [2, 3, 7, 9, 8 * 3, 8 * 3 + 5])
def test_any_number_of_samples(mlp, images, samples):
    many = np.resize(images, (samples, 1, 28, 28))
    found = mlp(many)
    assert found.shape == (samples, 10)
    one_by_one = np.concatenate([mlp(many[i:i + 1]) for i in range(samples)])
    assert np.allclose(found, one_by_one, atol=1e-6)
    assert np.array_equal(mlp(data=many), found)
    with pytest.raises(ValueError, match="8, 1, 28, 28"):
        mlp(many[:0])


def test_samples_of_several_inputs_and_outputs():
    network = {"mxc": 1, "inputs": {"a": [4, 2], "b": [4, 2], "c": [3, 2]},
               "nodes": [{"op": "elemwise_add", "name": "sum",
                          "inputs": ["a", "b"]},
                         {"op": "dot", "name": "product", "transpose_b": True,
                          "inputs": ["sum", "c"]}],
               "outputs": ["sum", "product"]}
    model = mxc.compile(network)
    a = np.arange(14, dtype=np.float32).reshape(7, 2)
    c = np.ones((3, 2), np.float32)
    found = model(a, 2 * a, c)
    assert np.array_equal(found[0], 3 * a)
    assert np.array_equal(found[1], 3 * a @ c.T)
    with pytest.raises(ValueError):
        model(a, a[:3], c)  # lengths that differ


def test_outputs_that_are_not_of_samples_are_not_told_apart():
    network = {"mxc": 1, "inputs": {"data": [4, 2]},
               "nodes": [{"op": "sum", "name": "total"}]}
    model = mxc.compile(network)
    assert model(np.ones((4, 2), np.float32)) == 8
    with pytest.raises(ValueError, match="4 samples at once, 3 are given"):
        model(np.ones((3, 2), np.float32))


def test_parameters_of_any_strides():
    model, weight, bias = small()
    x = np.random.default_rng(2).random((2, 3), np.float32)
    wide = np.zeros((4, 6), np.float32)
    wide[:, ::2] = weight
    for same in (np.asfortranarray(weight), weight.T.copy().T, wide[:, ::2],
                 weight[::-1].copy()[::-1]):
        found = mxc.compile(SMALL, params={"fc_weight": same, "fc_bias": bias})
        assert np.array_equal(found(x), model(x))
    for wrong in (np.ma.array(weight), weight.astype(complex),
                  weight.astype(str)):
        with pytest.raises(TypeError, match="'fc_weight'"):
            mxc.compile(SMALL, params={"fc_weight": wrong, "fc_bias": bias})


def test_big_endian_parameters():
    _, weight, bias = small()
    model = mxc.compile(SMALL, params={"fc_weight": weight.astype(">f4"),
                                       "fc_bias": bias})
    x = np.array([[1, 2, 3], [-1, 0, 5]], np.float32)
    assert np.array_equal(model(x), x @ weight.T + bias)


def test_one_text_is_not_a_list_of_letters():
    net = {"mxc": 1, "inputs": {"data": ["N", 3]},
           "nodes": [{"op": "FullyConnected", "name": "fc0", "num_hidden": 4},
                     {"op": "FullyConnected", "name": "fc1", "num_hidden": 2},
                     {"op": "LinearRegressionOutput", "name": "lro"}]}
    model = mxc.compile(net, init="xavier", batch=4, fixed="fc0_*",
                        entries="train")
    trainer = model.trainer()
    before = trainer.states()
    trainer.step(np.ones((4, 3), np.float32), np.ones((4, 2), np.float32),
                 lr=0.1)
    after = trainer.states()
    assert np.array_equal(before["fc0_weight"], after["fc0_weight"])
    assert not np.array_equal(before["fc1_weight"], after["fc1_weight"])
    with pytest.raises(TypeError, match="expected a list of names"):
        mxc.compile(net, init="xavier", classes="ab")


def test_parameters_of_other_names_are_told():
    _, weight, bias = small()
    with pytest.warns(UserWarning, match="'fc_wieght' .*'fc_weight' begins"):
        mxc.compile(SMALL, params={"fc_wieght": weight, "fc_bias": bias},
                    init="xavier")
    with pytest.raises(mxc.CompileError, match="none of its 1 arrays is"):
        mxc.compile(SMALL, params={"other": weight}, init="xavier")


def test_an_input_is_given_once():
    model, _, _ = small()
    x = np.ones((2, 3), np.float32)
    with pytest.raises(TypeError, match="'data' is given twice"):
        model(x, data=x)


def test_a_call_does_not_touch_earlier_outputs(mlp, images):
    first = mlp(images)
    kept = first.copy()
    mlp(images + 1)
    assert np.array_equal(first, kept)


def test_inputs_are_read_where_they_lie(mlp, images):
    executor = mlp.bind(batch=8)
    images.flags.writeable = False
    assert np.array_equal(executor(images), mlp(images))


@pytest.mark.parametrize("wrong, error, sentence", [
    (np.zeros((2, 3)), TypeError, "'data' takes float32, not float64"),
    (np.zeros((3, 2), np.float32), ValueError,
     r"'data' has shape \(2, 3\), not \(3, 2\)"),
    (np.zeros((3, 2), np.float32).T, ValueError, "'data' is not contiguous"),
    (np.zeros(6, np.float32), ValueError, r"not \(6,\)"),
    (object(), TypeError, "'data' takes an array, not"),
    ("photo.jpg", ValueError, "nothing says how the network takes pictures"),
    (np.zeros((2, 3), ">f4"), TypeError, "'data' takes float32"),
    (np.zeros((2, 3), np.complex64), TypeError, "'data' takes float32"),
    (np.zeros((2, 3), object), TypeError, "'data' takes"),
    (np.ma.zeros((2, 3), np.float32), TypeError, "'data' is a masked array"),
    (np.frombuffer(bytes(25), np.float32, 6, offset=1).reshape(2, 3),
     ValueError, "'data' is not aligned to its elements"),
    (1.5, TypeError, "'data' takes an array, not one number"),
])
def test_what_does_not_fit_is_refused(wrong, error, sentence):
    model, _, _ = small()
    with pytest.raises(error, match=sentence):
        model(wrong)


def test_arguments_are_named():
    model, _, _ = small()
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(TypeError, match="the inputs are 'data'"):
        model(x, label=x)
    with pytest.raises(TypeError, match="'data' is not given"):
        model()
    with pytest.raises(TypeError, match="1 inputs, 2 were given"):
        model(x, x)


def test_threads_call_one_model_at_once(mlp, images):
    expected = mlp(images)
    wrong = []

    def work():
        for _ in range(200):
            if not np.array_equal(mlp(images), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_compiled_to_a_file_is_loaded(tmp_path):
    model, _, _ = small(output=tmp_path / "small.mxa")
    loaded = mxc.load(tmp_path / "small.mxa", check_weights=True)
    x = np.ones((2, 3), np.float32)
    assert np.array_equal(loaded(x), model(x))
    entry = loaded.entries[0]
    assert (entry.name, entry.inputs[0].shape) == ("infer", (2, 3))
    assert (entry.inputs[0].dtype, entry.inputs[0].use) == ("float32", "data")
    assert '"FullyConnected"' in loaded.symbol
    assert loaded.manifest
    carried = mxc.load((tmp_path / "small.mxa").read_bytes())
    assert np.array_equal(carried(x), loaded(x))
    assert carried.page() == loaded.page().replace("small.mxa", "model.mxa")
    assert "of bytes" in repr(carried)
    for damaged in (b"", (tmp_path / "small.mxa").read_bytes()[:-1]):
        with pytest.raises(mxc.Error, match="artifact in memory"):
            mxc.load(damaged)


def test_the_file_of_a_model_goes_with_it():
    model, _, _ = small()
    path = pathlib.Path(model.path)
    assert path.exists()
    del model
    assert not path.exists()


def test_errors_of_files(tmp_path):
    with pytest.raises(mxc.Error, match="nope.mxa") as error:
        mxc.load(tmp_path / "nope.mxa")
    assert error.value.code in ("not found", "io")
    (tmp_path / "bad.mxa").write_bytes(b"no artifact")
    with pytest.raises(mxc.Error) as error:
        mxc.load(tmp_path / "bad.mxa")
    assert error.value.code == "corrupt"


def damaged(path, at):
    """A copy of the artifact with one bit of the weights changed."""
    bytes_ = bytearray(path.read_bytes())
    bytes_[bytes_.index(np.float32(1234.5678).tobytes()) + at] ^= 1
    copy = path.with_name(f"damaged-{at}.mxa")
    copy.write_bytes(bytes_)
    return copy


def test_damaged_weights_are_refused_unless_told_otherwise(tmp_path):
    values = {"fc_weight": np.ones((4, 3), np.float32),
              "fc_bias": np.full(4, 1234.5678, np.float32)}
    model = mxc.compile(SMALL, tmp_path / "small.mxa", params=values)
    x = np.ones((2, 3), np.float32)
    for at in (0, 3, 7):
        copy = damaged(tmp_path / "small.mxa", at)
        for opened in (mxc.load, mxc.Model):
            with pytest.raises(mxc.Error, match="damaged") as error:
                opened(copy)
            assert error.value.code == "corrupt"
        trusted = mxc.load(copy, check_weights=False)
        assert not np.array_equal(trusted(x), model(x))


def test_errors_of_networks_have_places(tmp_path):
    path = tmp_path / "net.json"
    path.write_text('{ "mxc": 1, "inputs": {"data": [1, 4]},\n'
                    '  "nodes": [{"op": "Convolutoin"},\n'
                    '            {"op": "Activaton"}] }')
    with pytest.raises(mxc.CompileError) as error:
        mxc.compile(path)
    assert (error.value.file, error.value.line) == (str(path), 2)
    assert [d.line for d in error.value.diagnostics] == [2, 3]
    assert error.value.column > 0
    assert "Convolution" in str(error.value)


def test_errors_of_networks_are_in_pythons_words(tmp_path):
    with pytest.raises(mxc.CompileError) as error:
        mxc.compile(SMALL)
    assert "params=" in str(error.value) and "--" not in str(error.value)
    assert 'init="xavier"' in str(error.value)
    nodes = [{"op": "null", "name": name, "inputs": []}
             for name in ("data", "fc_weight", "fc_bias")]
    mxnets = {"nodes": [*nodes, {"op": "FullyConnected", "name": "fc",
                                 "attrs": {"num_hidden": "4"},
                                 "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]}],
              "arg_nodes": [0, 1, 2], "heads": [[3, 0, 0]]}
    with pytest.raises(mxc.CompileError) as error:
        mxc.compile(mxnets, init="xavier")
    assert 'shapes={"data": (1, 3' in str(error.value)
    assert "--" not in str(error.value)


@pytest.mark.parametrize("command_line, python", [
    ("give --input-shape data:1x3x224x224", 'give shapes={"data": (1, 3, 224, 224)}'),
    ("compile it with --entry train,score", 'compile it with entries=["train", "score"]'),
    ("name a file (--params) or (--init xavier)", 'name a file (params=) or (init="xavier")'),
    ("needs --batch 32, --seed and --fixed", "needs batch=32, seed= and fixed="),
    ("--keep-weight 'fc*' without --weights int8", """keep_weights=['fc*'] without weights="int8\""""),
    ("--golden off leaves it out", "--golden off leaves it out"),
    ("a-batch, --batches stay", "a-batch, --batches stay")])
def test_options_of_the_command_line_in_python(command_line, python):
    assert in_python(command_line) == python


def test_an_initializer_is_checked_beside_parameters(tmp_path):
    weight = {"fc_weight": np.ones((4, 3)), "fc_bias": np.ones(4)}
    np.savez(tmp_path / "small.npz",
             **{k: v.astype(np.float32) for k, v in weight.items()})
    with pytest.raises(mxc.CompileError, match="'nope' is unknown"):
        mxc.compile(SMALL, params=tmp_path / "small.npz", init="nope")


def test_calls_have_signatures(mlp):
    for call in (mlp, mlp.__call__, mlp.bind, mlp.bind(batch=8),
                 mlp.bind(batch=8).read_state, mxc.compile, mxc.load, mxc.data,
                 mxc.Trainer.fit, mxc.Trainer.predict):
        assert str(inspect.signature(call)).startswith("("), call


def members(thing):
    """What the package itself says that a class has."""
    kinds = thing.__mro__ if inspect.isclass(thing) else []
    return {name: value for kind in kinds
            if kind.__module__.startswith("mxc")
            for name, value in vars(kind).items()}


def test_everything_public_is_documented():
    def told(value):
        words = inspect.getdoc(value)
        return words and not words.startswith("(self")  # a signature alone
    undocumented = [
        f"{name}.{member}" for name in mxc.__all__
        for member, value in [("", getattr(mxc, name)),
                              *members(getattr(mxc, name)).items()]
        if not member.startswith("_") and (
            callable(value) or isinstance(value, property))
        and not told(value)]
    assert undocumented == []


def test_a_summary_fits_a_terminal(mlp):
    text = mlp.summary()
    assert "infer, batch 8" in text and "(8, 1, 28, 28)" in text
    assert max(map(len, text.splitlines())) <= 80


def test_phases_are_reported():
    phases = []
    small(progress=lambda phase, text, seconds: phases.append(phase))
    assert phases[0] == "read" and "plan" in phases


@pytest.mark.skipif(not shutil.which("dot"), reason="no Graphviz")
def test_a_notebook_shows_the_network(mlp):
    picture = mlp._repr_svg_()
    names = ["data", "fc1", "fc2", "fc3", "softmax"]
    assert "<svg" in picture
    assert [name for name in names if name not in picture] == []
    assert mlp._repr_html_() is None  # a notebook would prefer it


def test_a_notebook_without_graphviz_shows_the_page(mlp, monkeypatch):
    monkeypatch.setenv("PATH", "")
    page = mlp._repr_html_()
    assert page.startswith("<iframe") and "&lt;svg" in page
    assert mlp._repr_svg_() is None


def test_running_loads_no_compiler():
    code = "import mxc, sys; sys.exit('mxc._compiler' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


class SpeaksDlpack:
    """An array that is nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_by_dlpack():
    model, weight, bias = small()
    x = np.array([[1, 2, 3], [-1, 0, 5]], np.float32)
    assert np.array_equal(model(SpeaksDlpack(x)), x @ weight.T + bias)
    with pytest.raises(TypeError, match="'data' takes float32"):
        model(SpeaksDlpack(x.astype(np.float64)))
    with pytest.raises(ValueError, match=r"\(2, 3\), not \(1, 3\)"):
        model(SpeaksDlpack(x[:1]))


def test_what_is_handed_out_is_the_callers_own():
    """Arrays that consumers of DLPack write to (PyTorch drops the flag of
    read-only arrays) hold nothing that the model reads."""
    model, _, _ = small()
    x = np.ones((2, 3), np.float32)
    first = model(x)
    expected = first.copy()
    assert first.flags.writeable and first.base is None
    first[:] = 0
    assert np.array_equal(model(x), expected)


def test_read_only_arrays_are_taken_and_left_alone():
    model, weight, bias = small()
    x = np.ones((2, 3), np.float32)
    x.flags.writeable = False
    assert np.array_equal(model(x), x @ weight.T + bias)
    assert np.array_equal(x, np.ones((2, 3), np.float32))
    fixed = {"fc_weight": weight, "fc_bias": bias}
    for array in fixed.values():
        array.flags.writeable = False
    assert np.array_equal(mxc.compile(SMALL, params=fixed)(x), model(x))


def test_torch_by_dlpack(mlp, images):
    torch = pytest.importorskip("torch")
    found = mlp(torch.from_numpy(images))
    assert np.array_equal(found, mlp(images))
    tensor = torch.from_dlpack(found)
    tensor[0, 0] = 7
    assert found[0, 0] == 7  # the same memory
    with pytest.raises(ValueError, match="not contiguous"):
        mlp.bind(batch=8)(torch.zeros(8, 1, 28, 28).transpose(2, 3))
