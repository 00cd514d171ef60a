# SPDX-License-Identifier: Apache-2.0
"""Artifacts in Python: arrays in and out, threads, errors."""
import json
import pathlib
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import mxc

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
        mlp(images[:3])


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
    ("text", TypeError, "'data' takes an array, not"),
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


def test_torch_by_dlpack(mlp, images):
    torch = pytest.importorskip("torch")
    found = mlp(torch.from_numpy(images))
    assert np.array_equal(found, mlp(images))
    tensor = torch.from_dlpack(found)
    tensor[0, 0] = 7
    assert found[0, 0] == 7  # the same memory
    with pytest.raises(ValueError, match="not contiguous"):
        mlp.bind(batch=8)(torch.zeros(8, 1, 28, 28).transpose(2, 3))
