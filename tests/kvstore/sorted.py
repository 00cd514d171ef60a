#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/kvstore/sorted.py BIN [--workers N,N] [--kvstore MODE] [SOURCE…]

What jobs learn from samples that stand sorted by class: pictures of ten classes
as folder, rec and cifar10, the means of their blocks as npy, csv and libsvm.
Prints the accuracy on other samples by source and number of workers (1,2,3,4);
fails where a job is more than a point below one process: with steps of as many
samples, and with batches of as many for each worker. Batch norm has the
statistics of worker 0, who would score badly had he seen some classes alone.
"""

import argparse
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

CLASSES, SIDE, BLOCK = 10, 32, 8
TRAINED, SCORED = 24, 12  # pictures of a class
BATCH, EPOCHS = 24, 40
SOURCES = ("folder", "npy", "rec", "csv", "libsvm", "cifar10")
PICTURES = ("folder", "rec", "cifar10")


def draw_means(draws, label):
    """Channels x rows x columns of blocks."""
    blocks = 3 * (SIDE // BLOCK) ** 2
    pattern = random.Random(label)
    return [min(255, max(0, round(pattern.uniform(50, 130) + 8 * label +
                                  draws.gauss(0, 20))))
            for _ in range(blocks)]


def pixels_of(means):
    """The picture, channel by channel."""
    across = SIDE // BLOCK
    return bytes(means[(c * across + y // BLOCK) * across + x // BLOCK]
                 for c in range(3) for y in range(SIDE) for x in range(SIDE))


def png_of(pixels):
    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))

    plane = SIDE * SIDE
    lines = b"".join(
        b"\0" + bytes(pixels[c * plane + y * SIDE + x]
                      for x in range(SIDE) for c in range(3))
        for y in range(SIDE))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b""))


def record_of(number, label, content):
    body = struct.pack("<IfQQ", 0, label, number, 0) + content
    return (struct.pack("<II", 0xCED7230A, len(body)) + body +
            b"\0" * (-len(body) % 4))


def npy_of(shape, values):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
            header.encode() + struct.pack(f"<{len(values)}f", *values))


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def write_samples(name, per_class, seed):
    """The same samples in each form, below the folder `name`."""
    draws = random.Random(seed)
    samples = [(label, draw_means(draws, label))
               for label in range(CLASSES) for _ in range(per_class)]
    rows = [(label, [mean / 255 for mean in means])
            for label, means in samples]
    records, cifar = [], []
    for number, (label, means) in enumerate(samples):
        pixels = pixels_of(means)
        png = png_of(pixels)
        write(f"{name}/folder/{label}/{number:04}.png", png)
        records.append(record_of(number, label, png))
        cifar.append(bytes([label]) + pixels)
    write(f"{name}/pictures.rec", b"".join(records))
    write("cifar10/" +
          ("data_batch_1.bin" if name == "train" else "test_batch.bin"),
          b"".join(cifar))
    width = len(rows[0][1])
    write(f"{name}/x.npy", npy_of((len(rows), width),
                                  [value for _, row in rows for value in row]))
    write(f"{name}/y.npy", npy_of((len(rows),), [label for label, _ in rows]))
    write(f"{name}/rows.csv", "".join(
        ",".join([str(label), *map(str, row)]) + "\n" for label, row in rows))
    write(f"{name}/rows.libsvm", "".join(
        " ".join([str(label), *(f"{i}:{v}" for i, v in enumerate(row))]) + "\n"
        for label, row in rows))


def source_of(kind, name):
    return {"folder": f"folder:{name}/folder", "rec": f"rec:{name}/pictures.rec",
            "cifar10": "cifar10:cifar10",
            "npy": f"npy:{name}/x.npy,{name}/y.npy",
            "csv": f"csv:{name}/rows.csv",
            "libsvm": f"libsvm:{name}/rows.libsvm"}[kind]


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def write_networks():
    blocks = 3 * (SIDE // BLOCK) ** 2
    for name, shape in (("pictures", f"3, {SIDE}, {SIDE}"), ("rows", blocks)):
        write(f"./{name}.json", """{"mxc": 1, "name": "net",
          "inputs": {"data": ["N", %s]}, "nodes": [
            {"op": "FullyConnected", "name": "fc1", "num_hidden": 32},
            {"op": "BatchNorm", "name": "bn", "fix_gamma": false},
            {"op": "Activation", "name": "relu", "act_type": "relu"},
            {"op": "FullyConnected", "name": "fc2", "num_hidden": %d},
            {"op": "SoftmaxOutput", "name": "softmax"}]}""" % (shape, CLASSES))


def accuracy(kind, workers, batch, kvstore):
    network, rate = ("pictures", 0.02) if kind in PICTURES else ("rows", 0.1)
    words = ["mxc", "train", f"{network}.json", "--init", "xavier",
             "--data", source_of(kind, "train"),
             "--val", source_of(kind, "val"), "--threads", "1",
             "--batch-size", str(batch), "--epochs", str(EPOCHS),
             "--lr", str(rate), "--seed", "1"]
    if kind in PICTURES:
        words += ["--data-opt", f"scale={1 / 255}"]
    if kind == "csv":
        words += ["--data-opt", "label_column=0"]
    if workers > 1:
        words = ["mxc", "launch", "--workers", str(workers), "--servers", "1",
                 "--", *words, "--kvstore", kvstore]
    return float(re.findall(r"val accuracy +([\d.]+)", run(*words))[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--workers", default="1,2,3,4")
    parser.add_argument("--kvstore", default="dist_sync")
    options = parser.parse_intermixed_args()
    os.environ["PATH"] = (os.path.abspath(options.bin) + os.pathsep +
                          os.environ["PATH"])
    counts = [int(count) for count in options.workers.split(",")]
    failed = False
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ["XDG_CACHE_HOME"] = work
        write_samples("train", TRAINED, 1)
        write_samples("val", SCORED, 2)
        write_networks()
        for kind in options.sources or SOURCES:
            for what, share in (
                    ("same steps", True), ("same batches", False)):
                results = {}
                for count in counts:
                    batch = BATCH // count if share else BATCH // max(counts)
                    results[count] = accuracy(kind, count, batch,
                                              options.kvstore)
                good = min(results.values()) >= results[counts[0]] - 0.01
                failed = failed or not good
                print(f"{kind:8}{what:14}", *(
                    f"{count}: {value:.4f} "
                    for count, value in results.items()),
                      "" if good else "FAILED", flush=True)
    sys.exit("FAILED" if failed else print("passed"))


if __name__ == "__main__":
    main()
