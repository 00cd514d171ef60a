# SPDX-License-Identifier: Apache-2.0
"""What the package writes is there whole, or what was there stays."""
import contextlib
import os
import resource
import stat
import threading

import numpy as np
import pytest

import mxc.mxnet as mx
from mxc._whole_file import write_whole
from mxc.mxnet import gluon, profiler


@contextlib.contextmanager
def full_disk():
    """Files end after 16 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def trainer():
    net = gluon.nn.Dense(3, in_units=2)
    net.initialize()
    return net, gluon.Trainer(net.collect_params(), "adam")


def stepped():
    net, learns = trainer()
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 2))).sum()
    loss.backward()
    learns.step(1)
    return learns


def module():
    net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(
        mx.sym.Variable("data"), num_hidden=2), name="softmax")
    made = mx.mod.Module(net)
    made.bind([("data", (1, 2))], [("softmax_label", (1, 2))])
    made.init_params()
    made.init_optimizer(kvstore=None, optimizer="adam")
    made.forward(mx.io.DataBatch([mx.nd.ones((1, 2))], [mx.nd.ones((1, 2))]))
    made.backward()
    made.update()
    return made


def trace(path):
    profiler.set_config(filename=path)
    profiler.dump()


WRITERS = {  # each makes what writes to a path
    "nd.save": lambda: lambda path: mx.nd.save(path, mx.nd.ones((8,))),
    "Symbol.save": lambda: mx.sym.Variable("x").save,
    "Trainer.save_states": lambda: stepped().save_states,
    "Module.save_optimizer_states": lambda: module().save_optimizer_states,
    "profiler.dump": lambda: trace,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_leaves_the_file_that_was_there(tmp_path, writer):
    path, write = tmp_path / "file", WRITERS[writer]()
    write(str(path))
    before = path.read_bytes()
    assert len(before) > 16
    with full_disk(), pytest.raises(OSError, match="File too large"):
        write(str(path))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_of_a_block_is_json_and_parameters(tmp_path):
    net, _ = trainer()
    net.save(str(tmp_path / "net"))
    assert sorted(os.listdir(tmp_path)) == ["net-model.json",
                                            "net-model.params"]


def test_nobody_sees_half_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with write_whole(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(RuntimeError), write_whole(path) as file:
        raise RuntimeError
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_links_are_written_through_and_streams_as_they_are(tmp_path):
    (tmp_path / "link").symlink_to("file")
    with write_whole(tmp_path / "link", "w") as file:
        file.write("ö")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "ö"
    assert (tmp_path / "link").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(
        target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    mx.nd.save(str(tmp_path / "pipe"), mx.nd.ones((1,)))
    reader.join()
    mx.nd.save(str(tmp_path / "plain"), mx.nd.ones((1,)))
    assert got == [(tmp_path / "plain").read_bytes()]
    mx.nd.save("/dev/null", mx.nd.ones((1,)))
    assert not os.path.isfile("/dev/null")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    path = str(tmp_path / "none" / "file")
    with pytest.raises(FileNotFoundError) as found:
        mx.nd.save(path, mx.nd.array(np.ones(1)))
    assert found.value.filename == path
    with pytest.raises(IsADirectoryError):
        with write_whole(tmp_path):
            pass


def test_names_may_be_as_long_as_file_systems_have_them(tmp_path):
    path = tmp_path / ("ä" * 127)
    mx.nd.save(str(path), mx.nd.ones((1,)))
    assert os.listdir(tmp_path) == [path.name]
