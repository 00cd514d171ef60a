# SPDX-License-Identifier: Apache-2.0
"""How programs end: beside threads that run a model, and by Ctrl-C."""
import os
import pathlib
import signal
import subprocess
import sys

MODELS = pathlib.Path(__file__).parents[2] / "models"


def cpu_seconds(process):
    """What all threads of a process have worked."""
    stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def run(code, *arguments, runs=1):
    for _ in range(runs):
        done = subprocess.run([sys.executable, "-c", code, *arguments],
                              capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_threads_that_call_a_model_do_not_hold_up_the_end(mlp):
    run("""
import mxc, numpy, sys, threading
model = mxc.load(sys.argv[1])
x = numpy.zeros((1, 1, 28, 28), numpy.float32)
called = threading.Semaphore(0)
def forever():
    while True:
        model(x)
        called.release()
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
for _ in range(30):
    called.acquire()
""", mlp.path, runs=4)


def test_threads_that_compile_do_not_hold_up_the_end():
    run("""
import mxc, threading
network = {"mxc": 1, "inputs": {"data": [2, 3]},
           "nodes": [{"op": "FullyConnected", "num_hidden": 4}]}
heard = threading.Semaphore(0)
def forever():
    while True:
        mxc.compile(network, init="xavier",
                    progress=lambda *phase: heard.release())
for _ in range(2):
    threading.Thread(target=forever, daemon=True).start()
for _ in range(6):
    heard.acquire()
""", runs=2)


def test_arrays_that_are_computed_do_not_hold_up_the_end():
    run("""
import mxc.mxnet as mx
x, product = mx.nd.ones((300, 300)), mx.nd.ones((300, 300))
for _ in range(100):
    product = mx.nd.dot(x, product) / 300
    product += 1
""", runs=5)


def test_a_fork_among_calls_goes_on():
    run("""
import os
import mxc.mxnet as mx
x = mx.nd.ones((200, 200))
for turn in range(30):
    x = mx.nd.dot(x, x) / 200
    x += 1
    child = os.fork()
    if child == 0:  # as a data loader's
        assert mx.nd.ones((2, 2)).sum().asscalar() == 4
        os._exit(0 if x.shape == (200, 200) else 1)
    assert os.waitpid(child, 0)[1] == 0
""", runs=2)


def test_an_error_among_many_calls_is_told_once_and_ends_nothing():
    run("""
import mxc.mxnet as mx
arrays = []
for i in range(100):
    x = mx.nd.ones((64, 64)) * i
    if i == 9:
        x.handle.fail("no tenth")  # in its turn
    arrays.append(x + 1)
told = []
for i, array in enumerate(arrays):
    try:
        assert array[0, 0].asscalar() == i + 1
    except mx.MXNetError as error:
        told.append((i, "no tenth" in str(error)))
assert told == [(9, True)], told
mx.nd.waitall()
""", runs=3)


def test_ctrl_c_ends_a_compilation(tmp_path):
    code = """
import mxc, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & ignores it
try:
    mxc.compile(sys.argv[1], sys.argv[2], init="xavier",
                shapes={"data": (1, 3, 224, 224)},
                progress=lambda phase, *rest: print(phase, flush=True))
    print("compiled")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, MODELS / "resnet-152.json",
         tmp_path / "net.mxa"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},  # no kept kernels
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while (phase := process.stdout.readline()) not in ("plan\n", ""):
        pass
    assert phase  # code is generated from now on, for several seconds
    began = cpu_seconds(process.pid)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    worked = cpu_seconds(process.pid) - began
    rest, said = process.communicate(timeout=60)
    assert (process.returncode, rest, said) == (0, "", "")
    assert not (tmp_path / "net.mxa").exists()
    assert worked < 3  # some milliseconds, however busy the machine is
