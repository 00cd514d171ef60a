#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/remote/streaming.py BIN MODELS
Trainings whose data come by URL while they run, from a server of our own that
fails, cuts, stalls and changes objects: every source's parameters byte for byte
the local file's, nothing asked for far ahead, one sentence for each refusal. BIN
holds mxc. Exits with 77 where there is no libcurl."""
import collections
import ctypes
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import zlib

from reading import Answering, Server

COUNT, SIDE, CLASSES = 1500, 28, 10
MIB = 1 << 20
MOST_AHEAD = 64_000_000
SECRETS = ("wJalrXUtnFEMI", "SESSIONTOKEN")


class Handler(Answering):
    """S3's objects and lists, and what is done to requests instead."""
    objects = {}  # "bucket/key"
    asked = []  # (path, first byte, bytes)
    numbers = collections.Counter()  # by path
    lock = threading.Lock()
    fault = None  # of a handler, a path and its number: True, it has answered
    going_on = threading.Event()  # what stalls ends with the test

    def answer(self, status, body=b"", headers=()):
        super().answer(status, body, headers)
        return True

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path, _, query = self.path.lstrip("/").partition("?")
        path = urllib.parse.unquote(path)
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        if self.command == "GET":
            with self.lock:
                self.numbers[path] += 1
                number = self.numbers[path]
            if self.fault and type(self).fault(self, path, number):
                return
        if "list-type" in query:
            self.list(path, query)
        elif path in self.objects:
            self.object(path)
        else:
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def tag(self, path):
        return f'"{zlib.crc32(self.objects[path])}"'

    def object(self, path, tag=None):
        content, tag = self.objects[path], tag or self.tag(path)
        if self.headers["If-Match"] not in (None, tag):
            return self.answer(412)
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        begin, end = (int(span[1]), int(span[2]) + 1) if span else (
            0, len(content))
        part = content[begin:end]
        if self.command == "GET":
            with self.lock:
                self.asked.append((path, begin, len(part)))
        headers = [("ETag", tag)]
        if span:
            headers.append(("Content-Range",
                            f"bytes {begin}-{end - 1}/{len(content)}"))
        if self.command == "HEAD":
            headers.append(("Content-Length", str(len(content))))
            self.send_response(200)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            return True
        return self.answer(206 if span else 200, part, headers)

    def list(self, bucket, query):
        """Pages of 400, none without a name."""
        prefix = query["prefix"]
        names = sorted(path[len(bucket) + 1:] for path in self.objects
                       if path.startswith(f"{bucket}/{prefix}"))
        names = [n for n in names if n > query.get("continuation-token", "")]
        page = "<EncodingType>url</EncodingType>" + "".join(
            f"<Contents><Key>{urllib.parse.quote_plus(n)}</Key><ETag>"
            f"{self.tag(bucket + '/' + n).replace(chr(34), '&quot;')}</ETag>"
            f"<Size>{len(self.objects[bucket + '/' + n])}</Size></Contents>"
            for n in names[:400])
        if len(names) > 400:
            page += (f"<NextContinuationToken>{names[399]}"
                     "</NextContinuationToken>")
        self.answer(200, page.encode())


def chunk(kind, content):
    crc = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(
        ">I", crc)


def png(pixels):
    rows = b"".join(b"\0" + pixels[y * SIDE:(y + 1) * SIDE]
                    for y in range(SIDE))
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def npy(kind, shape, content):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode(
    ) + content


def make_data(folder):
    """The same pictures as every source has them."""
    draw = random.Random(5)
    patterns = [draw.randbytes(SIDE * SIDE) for _ in range(CLASSES)]
    labels = [draw.randrange(CLASSES) for _ in range(COUNT)]
    pictures = []
    for label in labels:
        noise = draw.randbytes(SIDE * SIDE)
        pictures.append(bytes((3 * a + b) // 4
                              for a, b in zip(patterns[label], noise)))
    files = {}
    files["mnist/train-images-idx3-ubyte"] = struct.pack(
        ">IIII", 0x803, COUNT, SIDE, SIDE) + b"".join(pictures)
    files["mnist/train-labels-idx1-ubyte"] = struct.pack(
        ">II", 0x801, COUNT) + bytes(labels)
    record, index, listed = b"", "", ""
    for i, (label, pixels) in enumerate(zip(labels, pictures)):
        content = struct.pack("<IfQQ", 0, label, i, 0) + png(pixels)
        index += f"{i}\t{len(record)}\n"
        record += struct.pack("<II", 0xced7230a, len(content)) + content
        record += b"\0" * (-len(content) % 4)
        name = f"class {label}/{i:04}.png"
        files[f"photos/{name}"] = png(pixels)
        listed += f"{name} {label}\n"
    files["train.rec"], files["train.idx"] = record, index.encode()
    files["bare.rec"] = record
    files["list.txt"] = listed.encode()
    files["photos/read me.txt"] = b"no picture"
    files["x.npy"] = npy("|u1", (COUNT, 1, SIDE, SIDE), b"".join(pictures))
    files["y.npy"] = npy("|u1", (COUNT,), bytes(labels))
    files["x.csv"] = "".join(
        ",".join(map(str, [label, *pixels])) + "\n"
        for label, pixels in zip(labels[:200], pictures)).encode()
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        Handler.objects[f"bucket/{name}"] = content


SOURCES = {  # and their options
    "mnist:{}/mnist": [],
    "rec:{}/train.rec": ["data_shape=1,28,28"],
    "rec:{}/bare.rec": ["data_shape=1,28,28", "class_balanced=1"],
    "folder:{}/photos": ["data_shape=1,28,28"],
    "list:{}/list.txt": ["data_shape=1,28,28", "root={}/photos"],
    "npy:{}/x.npy,{}/y.npy": [],
    "csv:{}/x.csv": ["label_column=0", "data_shape=1,28,28"],
}


class Trainer:
    def __init__(self, binaries, models, folder, url):
        self.mxc, self.folder, self.url = binaries / "mxc", folder, url
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder),
            "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": SECRETS[0],
            "AWS_SESSION_TOKEN": SECRETS[1]}
        self.net = folder / "net.mxa"
        subprocess.run(
            [self.mxc, "compile", models / "lenet.json", "--quiet", "--entry",
             "grad,update,score", "--init", "xavier", "--seed", "1",
             "--input-shape", "data:50x1x28x28", "-o", self.net], check=True)
        self.number = 0

    def run(self, source, options=(), epochs=2, cache=None):
        self.number += 1
        saved = self.folder / f"saved{self.number}"
        words = [self.mxc, "train", self.net, "--data", source, "--seed", "7",
                 "--epochs", str(epochs), "--lr", "0.01", "--save", saved]
        for option in options:
            words += ["--data-opt", option]
        cache = cache or self.folder / f"cache{self.number}"
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=300,
            env={**self.environment, "MXC_REMOTE_CACHE": str(cache)})
        told = done.stdout + done.stderr
        assert not any(secret in told for secret in SECRETS), told
        if done.returncode:
            return done.returncode, done.stderr
        params = saved.with_name(f"{saved.name}-{epochs:04}.params")
        return 0, params.read_bytes()

    def refused(self, source, sentence, **options):
        code, told = self.run(source, **options)
        assert code not in (0, 77) and isinstance(told, str), (source, told)
        errors = [line for line in told.splitlines() if "error" in line]
        assert len(errors) == 1, (source, told)
        assert re.search(sentence, errors[0]), (source, told)


def flaky(handler, path, number):
    """Of seven requests one fails, each time in another way."""
    if number % 7 or "list-type" in handler.path:
        return False
    if number % 2:
        return handler.answer(503)
    handler.send_response(206)
    handler.send_header("Content-Length", "4096")
    handler.end_headers()
    handler.wfile.write(b"half")
    handler.close_connection = True
    return True


def check_traffic(form, known):
    """All of it came once, but what took long; then it is on the disk."""
    sizes = collections.Counter()
    for path, _, size in Handler.asked:
        sizes[path] += size
    if known:
        assert not sizes, (form, sizes)
        return
    for path, size in sizes.items():
        assert size <= 1.5 * len(Handler.objects[path]) + MIB, (path, size)
    if form.startswith("folder:"):
        assert len(sizes) == COUNT, len(sizes)


def check_sources(trainer, local):
    """Bit for bit, whatever fails; the second epoch asks for nothing."""
    Handler.fault = flaky
    for form, options in SOURCES.items():
        want = trainer.run(form.replace("{}", str(local)),
                           [o.replace("{}", str(local)) for o in options])
        assert want[0] == 0, want
        cache = trainer.folder / "cache"
        for known in (False, True):
            Handler.asked.clear()
            got = trainer.run(form.replace("{}", "s3://bucket"),
                              [o.replace("{}", "s3://bucket")
                               for o in options], cache=cache)
            assert got == want, (form, got[1] if got[0] else "other bytes")
            check_traffic(form, known)
    Handler.fault = None


def check_opening(trainer):
    """Files of one source are opened at the same time: none comes before each has
    been asked for."""
    names = ("x.npy", "y.npy")
    asked, all_asked, alone = set(), threading.Event(), []

    def await_others(_, path, __):
        name = path.removeprefix("bucket/")
        if name in names:
            with Handler.lock:
                asked.add(name)
            if len(asked) == len(names):
                all_asked.set()
            if not all_asked.wait(5):
                alone.append(name)
        return False

    Handler.fault = await_others
    code, told = trainer.run("npy:" + ",".join(
        f"s3://bucket/{name}" for name in names), epochs=1)
    Handler.fault = None
    assert code == 0, told
    assert not alone, alone


def hold_back(handler, path, _):
    """What a training waits for comes when nothing else is asked for any more, or
    after some seconds: nobody gives it up."""
    span = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers["Range"] or "")
    if path != "bucket/long.npy" or not span or span[1] == "0":
        return False
    begin, end = int(span[1]), int(span[2]) + 1
    if begin <= 160_000 < end:  # row 200
        asked = -1
        for _ in range(4):
            if asked == len(handler.asked):
                break
            asked = len(handler.asked)
            time.sleep(1)
    return False


def check_beginning(trainer):
    """A training begins before the object is there, and reads little ahead."""
    rows = 220_000
    Handler.objects["bucket/long.npy"] = npy(
        "|u1", (rows, 1, SIDE, SIDE), bytes(rows * SIDE * SIDE))
    Handler.objects["bucket/labels.npy"] = npy("|u1", (rows,), bytes(rows))
    size = len(Handler.objects["bucket/long.npy"])
    for shuffle in ("0", "1"):
        Handler.asked.clear()
        Handler.fault = hold_back if shuffle == "0" else None
        code, told = trainer.run(
            "npy:s3://bucket/long.npy,s3://bucket/labels.npy",
            [f"shuffle={shuffle}", "epoch_batches=5"], epochs=1)
        Handler.fault = None
        assert code == 0, told
        # Once, what was asked for again because it took long.
        asked = sum(size for path, _, size in set(Handler.asked)
                    if path == "bucket/long.npy")
        # Of what is drawn from everywhere, the 128 KiB around each row have been
        # read; nine batches may have been.
        read = 9 * 50 * (128 << 10) if shuffle == "1" else MIB
        assert asked <= MOST_AHEAD + read < size - 20 * MIB, (shuffle, asked)


def check_stalls(trainer):
    """A range that never comes is asked for once more, which is enough."""
    asked = collections.Counter()

    def stall(handler, path, _):
        if path != "bucket/long.npy":
            return False
        with handler.lock:
            asked[handler.headers["Range"]] += 1
            stalls = len(asked) == 4 and max(asked.values()) == 1
        if stalls:
            handler.going_on.wait()
            handler.close_connection = True
        return stalls

    source = "npy:s3://bucket/long.npy,s3://bucket/labels.npy"
    options = ["shuffle=0", "epoch_batches=400"]
    want = trainer.run(source, options, epochs=1)
    Handler.fault = stall
    got = trainer.run(source, options, epochs=1)
    Handler.fault = None
    assert got == want, got
    assert max(asked.values()) >= 2, asked


def check_refusals(trainer):
    npy_source = "npy:s3://bucket/x.npy,s3://bucket/y.npy"
    photos = {"options": ["data_shape=1,28,28"]}

    def later(status, code, path="bucket/x.npy", after=0):
        def answer(handler, asked, number):
            if asked.startswith(path) and number > after:
                return handler.answer(
                    status, f"<Error><Code>{code}</Code></Error>".encode())
            return False
        return answer

    for fault, source, sentence, options in (
            (later(403, "AccessDenied"), npy_source,
             r"x\.npy': the server does not let these keys read it \(403", {}),
            (later(400, "ExpiredToken"), npy_source,
             r"x\.npy': the server says that the keys have expired", {}),
            (later(404, "NoSuchKey"), npy_source,
             r"x\.npy': the server has no such object \(404", {}),
            (later(503, "SlowDown"), npy_source,
             r"x\.npy': the server does not recover \(503", {}),
            (later(403, "AccessDenied", "bucket"), "folder:s3://bucket/photos",
             r"does not let these keys list it \(403", photos),
            (later(403, "AccessDenied", "bucket/photos/class 3/"),
             "folder:s3://bucket/photos",
             r"class 3/\d+\.png': the server does not let", photos),
            (lambda h, p, n: p == "bucket/x.npy" and h.object(p, '"other"'),
             npy_source,
             r"x\.npy': the server has another object there since", {}),
            (lambda h, p, n: h.answer(
                200, b"<NextContinuationToken>x</NextContinuationToken>"),
             "folder:s3://bucket/photos",
             r"the server's list does not end", photos),
            (None, "folder:s3://bucket/none", r"no JPEG or PNG in it", photos),
            (None, f"folder:{trainer.url}/bucket/photos",
             r"HTTP does not say which files there are", photos),
            (None, "rec:s3://bucket/wrong.rec",
             r"are no whole record, as the \.idx beside the file says",
             photos)):
        Handler.numbers.clear()
        Handler.fault = fault
        trainer.refused(source, sentence, **options)
    Handler.fault = None


def main():
    binaries, models = map(pathlib.Path, sys.argv[1:3])
    try:
        ctypes.CDLL("libcurl.so.4")
    except OSError:
        print("skipped: no libcurl")
        sys.exit(77)
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        local = folder / "data"
        make_data(local)
        Handler.objects["bucket/wrong.rec"] = Handler.objects[
            "bucket/train.rec"]
        Handler.objects["bucket/wrong.idx"] = b"".join(
            Handler.objects["bucket/train.idx"].splitlines(True)[::2])
        trainer = Trainer(binaries, models, folder,
                          f"http://127.0.0.1:{server.server_port}")
        check_sources(trainer, local)
        check_opening(trainer)
        check_beginning(trainer)
        check_stalls(trainer)
        check_refusals(trainer)
        Handler.going_on.set()
    print("data by URL: the local file's epochs, or one sentence")


if __name__ == "__main__":
    main()
