# SPDX-License-Identifier: Apache-2.0
"""Trainer.fit is `mxc train`: the same samples and settings leave the same
bytes, also in a job of several processes."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mxc

BIN = pathlib.Path(mxc.__file__).parent / "bin"
NET = {"mxc": 1, "name": "net", "inputs": {"data": ["N", 1, 28, 28]},
       "nodes": [{"op": "FullyConnected", "name": "fc1", "num_hidden": 16},
                 {"op": "Activation", "act_type": "relu"},
                 {"op": "Dropout", "p": 0.2},
                 {"op": "FullyConnected", "name": "fc2", "num_hidden": 10},
                 {"op": "SoftmaxOutput", "name": "softmax"}]}


def run(*words, folder, launch=(), **environment):
    done = subprocess.run(
        [str(word) for word in (*launch, *words)], cwd=folder,
        env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def same(folder, one, other):
    files = sorted(folder.glob(f"{one}-*.params")) + sorted(
        folder.glob(f"{one}-*.states"))
    assert len(files) > 2
    for file in files:
        twin = folder / file.name.replace(one, other, 1)
        assert file.read_bytes() == twin.read_bytes(), file.name


@pytest.fixture
def artifact(tmp_path):
    mxc.compile(NET, init="xavier", seed=3, batch=32, optimizer="sgd",
                attributes={"momentum": 0.9}, entries=["train", "score"],
                output=tmp_path / "net.mxa")
    return tmp_path / "net.mxa"


COMMAND = ["--data-opt", "size=320", "--lr", "0.1", "--lr-schedule",
           "multifactor:step=8,15:factor=0.5", "--seed", "7", "--epochs", "2"]
FIT = dict(lr=0.1, lr_schedule="multifactor:step=8,15:factor=0.5", seed=7)


def test_a_source_trains_as_the_command_does(artifact, tmp_path):
    run(BIN / "mxc-run", "train", artifact, "--data", "digits", "--val",
        "digits", *COMMAND, "--save", "command", "--ema", "0.9", "--quiet",
        folder=tmp_path)
    trainer = mxc.load(artifact).trainer()
    source = mxc.data("digits", options={"size": 320})
    history = trainer.fit(source, validation=source.held_out(), epochs=2,
                          ema=0.9, checkpoint=tmp_path / "python", **FIT)
    same(tmp_path, "command", "python")
    saved = mxc.load(artifact).trainer()
    saved.load_parameters(tmp_path / "command-0002.ema.params")
    for name, value in trainer.averages().items():
        assert np.array_equal(saved.parameters()[name], value)
    assert len(history["val_loss"]) == 2
    # It goes on from what the command has saved.
    more = mxc.load(artifact).trainer()
    assert len(more.fit(source, validation=source.held_out(), epochs=3, ema=0.9,
                        checkpoint=tmp_path / "command", resume=True,
                        **FIT)["loss"]) == 1


def test_arrays_train_as_files_do(artifact, tmp_path):
    x = np.random.default_rng(1).random((100, 1, 28, 28), np.float32)
    y = np.arange(100) % 10
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    run(BIN / "mxc-run", "train", artifact, "--data", "npy:x.npy,y.npy",
        *COMMAND[2:], "--save", "command", "--quiet", folder=tmp_path)
    mxc.load(artifact).trainer().fit(x, y, epochs=2,
                                     checkpoint=tmp_path / "python", **FIT)
    same(tmp_path, "command", "python")


def test_one_script_is_all_processes_of_a_job(tmp_path):
    mxc.compile(NET, init="xavier", seed=3, batch=32,
                entries=["grad", "update", "score"], output=tmp_path / "job.mxa")
    launch = [BIN / "mxc", "launch", "--workers", 2, "--servers", 1, "--"]
    run(BIN / "mxc-run", "train", "job.mxa", "--data", "digits", *COMMAND,
        "--save", "command", launch=launch, folder=tmp_path)
    (tmp_path / "script.py").write_text(
        "import mxc\n"
        "trainer = mxc.load('job.mxa').trainer(threads=1)\n"
        "trainer.fit(mxc.data('digits', options={'size': 320}), epochs=2,\n"
        "            kvstore='dist_sync', checkpoint='python', lr=0.1, seed=7,\n"
        "            lr_schedule='multifactor:step=8,15:factor=0.5')\n")
    run(sys.executable, "script.py", launch=launch, folder=tmp_path)
    same(tmp_path, "command", "python")


def test_settings_that_there_are_not_are_named(artifact, tmp_path):
    trainer, y = mxc.load(artifact).trainer(), np.zeros(32)
    x = np.zeros((32, 1, 28, 28), np.float32)
    with pytest.raises(TypeError, match="no setting 'early-stops'; nearest: "
                                        "early-stop"):
        trainer.fit(x, y, early_stops="patience=1")
    with pytest.raises(TypeError, match="no setting 'save': checkpoint= says"):
        trainer.fit(x, y, save="net")
    with pytest.raises(ValueError, match="save-every is '0', expected"):
        trainer.fit(x, y, save_every=0)
    log = tmp_path / "log"
    trainer.fit(x, y, log_dir=log, epochs=2, lr=0.1)
    assert (log / "report.html").exists()
