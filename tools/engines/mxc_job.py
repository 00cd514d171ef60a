# SPDX-License-Identifier: Apache-2.0
"""One process of a job that another engine starts (tools/run/job.h).

The engine gives every process a number; the first ones are servers. What they
need of each other is a secret, which the driver makes, and the servers'
addresses, which the processes exchange once each has chosen its port.
"""

import contextlib
import ctypes
import hashlib
import hmac
import os
import secrets
import signal
import socket
import subprocess
import tempfile


def make_secret():
    """Of the job: 256 bits."""
    return secrets.token_bytes(32)


def _key_line(secret, role, rank):
    if role == "server":
        return f"mxc-kvstore-key server {secret.hex()}\n"
    identity = f"worker-{rank}"
    text = f"mxc kvstore 1 {identity}".encode()
    key = hmac.new(secret, text, hashlib.sha256).hexdigest()
    return f"mxc-kvstore-key {identity} {key}\n"


def role_of(number, servers):
    """("server", 0), ("worker", 2)"""
    if number < servers:
        return "server", number
    return "worker", number - servers


def free_address(host=None):
    """Where a server of this machine may listen."""
    host = host or socket.gethostbyname(socket.gethostname())
    with socket.socket() as probe:
        probe.bind((host, 0))
        return f"{host}:{probe.getsockname()[1]}"


def write_together(files):
    """Files by path, as bytes, each whole: none has its name before the disk has
    them all."""
    unfinished = {path: f"{path}.{os.getpid()}.0x{secrets.token_hex(8)}"
                  for path in map(os.path.realpath, files)}
    try:
        for name, content in zip(unfinished.values(), files.values()):
            with open(name, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, name in unfinished.items():
            os.replace(name, path)
    finally:
        for name in unfinished.values():
            with contextlib.suppress(OSError):
                os.unlink(name)


def _end_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _key_file(folder, line):
    """Read by this process's user alone."""
    path = os.path.join(folder, "key")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(line)
    return path


@contextlib.contextmanager
def worker_settings(secret, rank, workers, address):
    """What subprocess.run gives to worker `rank`, as torchrun starts workers:
    the one server runs beside worker 0 and listens at `address`."""
    settings = {"env": dict(os.environ), "preexec_fn": _end_with_parent}
    if workers == 1:
        yield settings
        return
    host, port = address.rsplit(":", 1)
    with tempfile.TemporaryDirectory(prefix="mxc-job-") as folder:
        settings["env"].update(
            RANK=str(rank),
            WORLD_SIZE=str(workers),
            MASTER_ADDR=host,
            MASTER_PORT=port,
            MXC_PORT=port,
            MXC_KEY=_key_file(folder, _key_line(secret, "server", 0)),
        )
        yield settings


def run(command, secret, number, workers, addresses, resume=False):
    """Runs the command as the process `number`; its exit status.

    `addresses`: the servers', in order. `resume`: the job has begun before and
    goes on from its newest checkpoint.
    """
    role, rank = role_of(number, len(addresses))
    with tempfile.TemporaryDirectory(prefix="mxc-job-") as folder:
        environment = dict(
            os.environ,
            MXC_ROLE=role,
            RANK=str(rank),
            WORLD_SIZE=str(workers),
            MXC_SERVERS=",".join(addresses),
            MXC_KEY=_key_file(folder, _key_line(secret, role, rank)),
        )
        if resume:
            environment["MXC_RESUME"] = "1"
        return subprocess.run(
            command, env=environment, preexec_fn=_end_with_parent
        ).returncode
