# SPDX-License-Identifier: Apache-2.0
"""What the comparisons of another processor with this one share."""
import struct
import subprocess

import numpy


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def arrays_of(params):
    """Arrays of a .params file (MXNet's: ../../reference, "Parameters"), float32."""
    with open(params, "rb") as file:
        data = file.read()
    _, _, count = struct.unpack_from("<QQQ", data)
    at, arrays = 24, []
    for _ in range(count):
        magic, storage, rank = struct.unpack_from("<IiI", data, at)
        assert (magic, storage) == (0xF993FAC9, 0)
        shape = struct.unpack_from(f"<{rank}q", data, at + 12)
        at += 12 + 8 * rank + 12  # and device, its number, type
        arrays.append(numpy.frombuffer(data, "<f4", int(numpy.prod(shape)), at))
        at += arrays[-1].nbytes
    return arrays


def difference(ours, theirs):
    """Of two arrays, relative to how far the elements of one lie apart."""
    apart = max(ours.max() - ours.min(), 1e-6 * numpy.abs(ours).max())
    return numpy.abs(ours - theirs).max() / apart
