#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changed files of every format that commands read, but artifacts.

files.py BIN_DIR [COUNT [SEED [KIND...]]]

Makes a good file of each kind, changes it COUNT times in all (50) as SEED (1)
decides, and gives each to the command that reads it. It must end within 20 s of
the processor and 4 GiB of address space with 0, or with 1 and a sentence of
bounded length that begins with "error:" or a place; nothing that it prints may
be a control character. Checksums of pictures are made right again. A file that
did otherwise is kept in ./kept.
"""
import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unicodedata
import zlib

HURTFUL = [0, 1, 2, 3, 7, 8, 64, 0xffff, 2**31 - 1, 2**31, 2**32 - 1, 2**40,
           2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
NETWORK = {"mxc": 1, "inputs": {"data": [4, 3, 6, 6]},
           "nodes": [
    {"op": "Convolution", "name": "conv", "kernel": [3, 3], "num_filter": 4},
    {"op": "BatchNorm", "name": "bn"},
    {"op": "Activation", "act_type": "relu"},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 3},
    {"op": "SoftmaxOutput", "name": "softmax"}]}


# --- changes


def change_bytes(data, draw):
    """Numbers of any width, bits, stretches twice, swapped, or gone."""
    data = bytearray(data)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(data) or 1)
        width = draw.choice((1, 2, 4, 8))
        way = draw.randrange(7)
        if way == 0:
            del data[at:]
        elif way == 1:
            data[at:at] = data[max(0, at - draw.randint(1, 64)):at]
        elif way == 2:
            del data[at:at + draw.randint(1, 16)]
        elif way == 3 and len(data) > 2 * width:
            other = draw.randrange(len(data) - width)
            at = min(at, len(data) - width)
            data[at:at + width], data[other:other + width] = (
                data[other:other + width], data[at:at + width])
        elif at + width <= len(data):
            value = int.from_bytes(data[at:at + width], "little")
            value = draw.choice([value + 1, value - 1, value ^ (1 << draw.randrange(8)),
                                 draw.choice(HURTFUL), draw.choice(HURTFUL)])
            data[at:at + width] = (value % 256**width).to_bytes(width, "little")
    return bytes(data)


def places(value):
    """Every place of a JSON document, as (container, key)."""
    items = (value.items() if isinstance(value, dict) else
             enumerate(value) if isinstance(value, list) else ())
    for key, inner in list(items):
        yield value, key
        yield from places(inner)


def change_json(data, draw):
    if draw.randrange(8) == 0:
        return change_bytes(data, draw)
    root = json.loads(data)
    for _ in range(draw.randint(1, 2)):
        there = list(places(root))
        if not there:
            break
        around, key = draw.choice(there)
        other, other_key = draw.choice(there)
        way = draw.randrange(5)
        if way == 0:
            del around[key]
        elif way == 1 and isinstance(around, list):
            around.insert(key, around[key])
        elif way == 2:
            around[key] = json.loads(json.dumps(other[other_key]))
        elif isinstance(around[key], str):
            around[key] = draw.choice(
                ["", "0", "-1", "(0, 0)", "(2147483648,)", "None", "relu",
                 "1e300", "\x1b[31m", "x" * 3000, str(draw.choice(HURTFUL))])
        else:
            around[key] = draw.choice([*HURTFUL, -1, 0.5, 1e300, None, True, [],
                                       {}, "", [0] * 50])
    return json.dumps(root).encode()


def change_text(data, draw):
    if draw.randrange(3) == 0:
        return change_bytes(data, draw)
    words = data.split(b" ")
    words[draw.randrange(len(words))] = draw.choice(
        [b"", b"nan", b"-inf", b"1e999", b"99999999999999999999", b"-1", b"\x00",
         b"\x1b[31m", b":", b"1:", b",", b"0x10", b"9" * 5000])
    return b" ".join(words)


def seal_png(data):
    """With right checksums, as far as it is made of chunks."""
    out, at = bytearray(data[:8]), 8
    while at + 12 <= len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        if at + 12 + size > len(data):
            break
        body = data[at + 4:at + 8 + size]
        out += data[at:at + 4] + body + struct.pack(">I", zlib.crc32(body))
        at += 12 + size
    return bytes(out) + data[at:]


def change_png(data, draw):
    return seal_png(change_bytes(data, draw))


# --- good files


def png(seed):
    rows = b"".join(b"\x00" + bytes((seed * 31 + x * y) % 256 for x in range(24))
                    for y in range(8))

    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def records():
    out = b""
    for i in range(8):
        body = struct.pack("<IfQQ", 0, i % 3, i, 0) + png(i)
        out += struct.pack("<II", 0xced7230a, len(body)) + body
        out += b"\0" * (-len(body) % 4)
    return out


def npy(shape, values):
    head = (f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
            .ljust(117) + "\n").encode()
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head +
            struct.pack(f"<{len(values)}f", *values))


class Kinds:
    """What is changed, how, and by which command it is read."""

    def __init__(self, mxc, folder):
        self.mxc, self.folder = mxc, folder
        self.write("net.json", json.dumps(NETWORK).encode())
        self.write("x.npy", npy((8, 3, 6, 6), [i % 7 for i in range(864)]))
        self.write("y.npy", npy((8,), [i % 3 for i in range(8)]))
        self.write("x.png", png(1))
        self.write("x.rec", records())
        self.write("x.csv", b"\n".join(
            b"1, 2, 3, 4, %d" % (i % 3) for i in range(8)))
        self.write("x.libsvm", b"\n".join(
            b"%d 1:2 3:4.5 4:1" % (i % 3) for i in range(8)))
        flat = {**NETWORK, "inputs": {"data": [4, 4]},
                "nodes": NETWORK["nodes"][3:]}
        self.write("flat.json", json.dumps(flat).encode())
        for suffix in ("-symbol.json", ".npz", ".safetensors"):
            self.good("convert", "net.json", "--init", "xavier", "-o", "net" + suffix)
        self.good("compile", "net.json", "--params", "net.npz", "-o", "net.mxa")
        self.write("wide.json", json.dumps(
            {"mxc": 1, "inputs": {"data": [1, 32, 14, 14]}, "nodes": [
                {"op": "Convolution", "kernel": [3, 3], "pad": [1, 1],
                 "num_filter": 64}]}).encode())
        tuned = ["compile", "wide.json", "--init", "xavier", "-o", "o.mxa",
                 "--tuning-cache", "tuning.json"]
        self.good(*tuned, "-O3", "--tuning-seconds", "600")
        self.good(*self.train("p"))
        self.kinds = {
            "symbol": ("net-symbol.json", change_json,
                       ["inspect", "CHANGED", "--steps", "--memory"]),
            "own": ("net.json", change_json,
                    ["compile", "CHANGED", "--init", "zero", "-o", "out.mxa"]),
            "params": ("net-0000.params", change_bytes,
                       ["compile", "net.json", "--params", "CHANGED", "-o", "o.mxa"]),
            "npz": ("net.npz", change_bytes,
                    ["compile", "net.json", "--params", "CHANGED", "-o", "o.mxa"]),
            "safetensors": ("net.safetensors", change_bytes,
                            ["convert", "net.json", "--params", "CHANGED", "-o",
                             "o.npz"]),
            "states": ("p-0001.states", change_bytes, self.train("p", "--resume")),
            "mxc": ("p-0001.mxc", change_bytes, self.train("p", "--resume")),
            "tuning": ("tuning.json", change_json,
                       tuned),
            "object": (self.object(), change_bytes,
                       ["compile", "net.json", "--params", "net.npz", "-o", "o.mxa"]),
            "png": ("x.png", change_png, ["run", "net.mxa", "--input", "CHANGED"]),
            "npy": ("x.npy", change_bytes,
                    ["run", "net.mxa", "--input", "data=CHANGED"]),
            "rec": ("x.rec", change_bytes,
                    ["train", "net.json", "--init", "xavier", "--data",
                     "rec:CHANGED", "--epochs", "1", "--batch-size", "4"]),
            "csv": ("x.csv", change_text,
                    ["train", "flat.json", "--init", "xavier", "--data",
                     "csv:CHANGED", "--data-opt", "label_column=4", "--epochs",
                     "1", "--batch-size", "4"]),
            "libsvm": ("x.libsvm", change_text,
                       ["train", "flat.json", "--init", "xavier", "--data",
                        "libsvm:CHANGED", "--epochs", "1", "--batch-size", "4"]),
        }

        for kind in self.kinds:
            _, result = self.changed(kind, None)
            if result.returncode != 0:
                raise SystemExit(f"{kind}: {result.stderr.decode()}")

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def train(self, prefix, *more):
        """The second epoch, where the first one is there."""
        return ["train", "net.json", *(more or ["--init", "xavier"]), "--data",
                "npy:x.npy,y.npy", "--batch-size", "4", "--optimizer", "adam",
                "--epochs", "2" if more else "1", "--save", prefix]

    def object(self):
        """One of the object cache, by its path."""
        for around, _, files in os.walk(os.path.join(self.folder, "cache")):
            for name in sorted(files):
                if name.endswith(".mxo"):
                    return os.path.relpath(os.path.join(around, name), self.folder)
        raise SystemExit("error: nothing was kept in the object cache")

    def good(self, *arguments):
        result = self.run(arguments)
        if result.returncode != 0:
            raise SystemExit(f"{arguments}: {result.stderr.decode()}")

    def run(self, arguments):
        environment = {**os.environ, "XDG_CACHE_HOME":
                       os.path.join(self.folder, "cache")}
        return subprocess.run([self.mxc, *arguments], cwd=self.folder,
                              env=environment, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, preexec_fn=limit)

    def changed(self, kind, draw):
        """Runs the command on a changed file, without `draw` on the good one; the
        file's bytes and the result."""
        name, change, command = self.kinds[kind]
        before = self.read(name)
        data = change(before, draw) if draw else before
        self.write(name, data)
        try:
            return data, self.run([word.replace("CHANGED", name) for word in command])
        finally:
            for later in ("params", "states", "mxc"):
                path = os.path.join(self.folder, f"p-0002.{later}")
                if os.path.exists(path):
                    os.remove(path)
            self.write(name, before)


# --- what a command may do

# Sanitizers map terabytes.
SANITIZED = b"__asan_init" in subprocess.run(
    ["nm", "-D", os.path.join(sys.argv[1], "mxc")] if len(sys.argv) > 1 else ["true"],
    capture_output=True, check=False).stdout

def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 21))


def complaint(result):
    if result.returncode == -signal.SIGXCPU:
        return "is not done in time"
    if result.returncode not in (0, 1):
        return f"ended with {result.returncode}"
    error = result.stderr.decode("utf-8", "backslashreplace")
    if result.returncode == 1 and "error: " not in error:
        return "says nothing"
    if "internal error" in error:
        return "blames itself"
    if SANITIZED and ("Sanitizer" in error or "runtime error: " in error):
        return "is ended by a sanitizer"
    if len(error) > 200_000:
        return f"says {len(error)} characters"
    for c in error + result.stdout.decode("utf-8", "backslashreplace"):
        if unicodedata.category(c) == "Cc" and c not in "\n\t":
            return f"prints {c!r}"
    return ""


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    mxc = os.path.join(os.path.abspath(sys.argv[1]), "mxc")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failures, ended = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        kinds = Kinds(mxc, folder)
        asked = sys.argv[4:] or list(kinds.kinds)
        for i in range(count):
            kind = asked[i % len(asked)]
            data, result = kinds.changed(kind, random.Random(f"{seed} {i}"))
            wrong = complaint(result)
            row = ended.setdefault(kind, [0, 0, 0])
            row[2 if wrong else result.returncode] += 1
            if not wrong:
                continue
            failures += 1
            os.makedirs("kept", exist_ok=True)
            kept = f"kept/{seed}-{i}-{os.path.basename(kinds.kinds[kind][0])}"
            with open(kept, "wb") as file:
                file.write(data)
            print(f"{kept}: mxc {' '.join(kinds.kinds[kind][2])}: {wrong}: "
                  f"{result.stderr[-300:]!r}", flush=True)
    print(f"{'kind':<12} {'taken':>7} {'refused':>7} {'wrong':>7}")
    for kind, (taken, refused, wrong) in ended.items():
        print(f"{kind:<12} {taken:>7} {refused:>7} {wrong:>7}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
