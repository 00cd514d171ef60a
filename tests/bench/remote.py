#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/bench/remote.py BIN MOTO [--turns N] [--epochs N] [--model M]
Trains LeNet (or M of models/) on 215 MB of CIFAR-10's format, shuffled, from files
and from s3://, by turns, and compares every epoch's rate and the parameters; what the
training's thread waits for a processor that others have does not count. MOTO is a
Python that has 'moto[server]', a stand-in for S3: it says whether an object is there
and which. The bytes go through a proxy of this script's, which read each object of
moto's, and its ETag, once: every request takes 20 ms, all together 200 MB/s, and of
100 requests one is answered with 500 or 503, is never answered, or is cut in the
middle. BIN holds mxc and mxc-run; the trainings run on processor 0 and the servers on
processor 1."""
import argparse
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

LATENCY, RATE, FAULTS = 0.020, 200e6, 0.01
FILES, RECORDS = 5, 14000
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1"}
# moto looks for who asks, and not whether the signature is right.
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/"
          "us-east-1/s3/aws4_request"}


class Link:
    """All connections share the rate."""

    def __init__(self):
        self.lock, self.free = threading.Lock(), 0.0

    def send(self, to, content):
        view = memoryview(content)
        for begin in range(0, len(view), 128 << 10):
            part = view[begin:begin + (128 << 10)]
            with self.lock:
                now = time.monotonic()
                self.free = max(self.free, now) + len(part) / RATE
                wait = self.free - now
            if wait > 0:
                time.sleep(wait)
            to.write(part)


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    link, lock = Link(), threading.Lock()
    moto = None  # its port
    objects = {}  # whole, by path
    draw, faults = random.Random(3), {}
    under_way = most_under_way = asked = requests = 0
    connections = threading.local()

    def log_message(self, *_):
        pass

    def ask(self, method):
        """What moto says to this request."""
        if not hasattr(self.connections, "moto"):
            self.connections.moto = http.client.HTTPConnection(
                "127.0.0.1", self.moto)
        headers = {k: v for k, v in self.headers.items()
                   if k.lower() not in ("host", "range")}
        try:
            self.connections.moto.request(method, self.path, headers=headers)
            answer = self.connections.moto.getresponse()
            return answer, answer.read()
        except (http.client.HTTPException, OSError):
            del self.connections.moto
            return self.ask(method)

    def count(self, size):
        cls = type(self)
        with self.lock:
            cls.under_way += size
            cls.most_under_way = max(cls.most_under_way, cls.under_way)
            cls.asked += max(size, 0)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with self.lock:
            type(self).requests += 1
            fault = (self.draw.choice((500, 503, "stalled", "cut"))
                     if self.draw.random() < FAULTS else None)
            if fault:
                self.faults[fault] = self.faults.get(fault, 0) + 1
        time.sleep(LATENCY)
        if fault == "stalled":
            time.sleep(60)
            self.close_connection = True
            return
        if fault in (500, 503):
            self.give(fault, b"", {})
            return
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        if not span or self.path not in self.objects:
            answer, body = self.ask(self.command)
            headers = {k: answer.headers[k] for k in ("ETag", "Content-Length")
                       if answer.headers[k]}
            self.give(answer.status, body, headers, fault)
            return
        whole, tag = self.objects[self.path]
        headers = {"ETag": tag}
        if self.headers["If-Match"] not in (None, tag):
            self.give(412, b"", headers)
            return
        begin, end = int(span[1]), int(span[2]) + 1
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(whole)}"
        self.count(end - begin)
        try:
            self.give(206, memoryview(whole)[begin:end], headers, fault)
        finally:
            self.count(begin - end)

    def give(self, status, body, headers, fault=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)),
                            **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault == "cut":
            body = body[:len(body) // 2]
            self.close_connection = True
        self.link.send(self.wfile, body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, *_):
        pass


def make_data(folder):
    draw = random.Random(1)
    patterns = [draw.randbytes(3072) for _ in range(10)]
    # A byte of the class's picture, then one of noise.
    for number in range(1, FILES + 1):
        with open(folder / f"data_batch_{number}.bin", "wb") as file:
            for _ in range(RECORDS):
                label = draw.randrange(10)
                record = bytearray(draw.randbytes(3072))
                record[::2] = patterns[label][::2]
                file.write(bytes([label]) + record)


def put(folder, port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(100):
        try:
            connection.request("PUT", "/bucket", headers=SIGNED)
            connection.getresponse().read()
            break
        except OSError:
            connection.close()
            time.sleep(0.2)
    for file in sorted(folder.iterdir()):
        path = f"/bucket/cifar/{file.name}"
        connection.request("PUT", path, body=file.read_bytes(),
                           headers=SIGNED)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        connection.request("GET", path, headers=SIGNED)
        answer = connection.getresponse()
        Proxy.objects[path] = answer.read(), answer.headers["ETag"]
        assert Proxy.objects[path][0] == file.read_bytes()


def waited(pid):
    """Seconds that a process' first thread was ready and had no processor."""
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat").read_text()
    return int(text.split()[1]) / 1e9


def train(binaries, folder, source, name, options, environment):
    """Seconds of each epoch without those in which others had the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    process = subprocess.Popen(
        ["taskset", "-c", "0", binaries / "mxc", "train", folder / "net.mxa",
         "--data", source, "--seed", "7", "--lr", "0.01", "--threads", "1",
         "--save", folder / name, "--overwrite", *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, **environment})
    losses, seconds, last, told = [], [], 0.0, ""
    for line in process.stdout:
        told += line
        epoch = re.match(r"epoch \d+/\d+  loss (\S+)", line)
        if epoch:
            now = time.monotonic() - begun - waited(process.pid)
            losses.append(epoch[1])
            seconds.append(round(now - last, 2))
            last = now
    assert process.wait() == 0, told
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = (after.ru_utime + after.ru_stime - before.ru_utime
            - before.ru_stime)
    params = sorted(folder.glob(f"{name}-*.params"))[-1].read_bytes()
    return {"wall": round(time.monotonic() - begun, 2),
            "processor": round(busy, 2), "losses": losses,
            "epochs": seconds}, params


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("moto")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--epochs", default="2")
    parser.add_argument("--model", default="lenet")
    options = parser.parse_args()
    models = pathlib.Path(__file__).resolve().parents[2] / "models"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        data = folder / "cifar"
        data.mkdir()
        make_data(data)
        subprocess.run(
            [options.binaries / "mxc", "compile", 
             models / f"{options.model}.json", "--quiet", "--entry", "grad,update,score", "--init", "xavier",
             "--seed", "1", "--input-shape", "data:100x3x32x32", "-o",
             folder / "net.mxa"], check=True)
        moto = subprocess.Popen(
            ["taskset", "-c", "1", options.moto, "-m", "moto.server", "-p",
             "0"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, env={**os.environ, **KEYS})
        try:
            measure(options, folder, data, moto)
        finally:
            moto.terminate()


def measure(options, folder, data, moto):
    for line in moto.stderr:
        port = re.search(r"Running on http://127\.0\.0\.1:(\d+)", line)
        if port:
            break
    threading.Thread(target=moto.stderr.read, daemon=True).start()
    Proxy.moto = int(port[1])
    put(data, Proxy.moto)
    os.sched_setaffinity(0, {1})
    server = Server(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        **KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}"}
    words = ["--epochs", options.epochs]
    same = True
    for turn in range(options.turns):
        local, want = train(options.binaries, folder, f"cifar10:{data}",
                            "local", words, {})
        print("file  ", json.dumps(local), flush=True)
        remote, got = train(
            options.binaries, folder, "cifar10:s3://bucket/cifar", "remote",
            words, {**environment,
                    "MXC_REMOTE_CACHE": str(folder / f"cache{turn}")})
        print("s3    ", json.dumps(remote), flush=True)
        same = same and got == want and local["losses"] == remote["losses"]
        ratios = [a / b for a, b in zip(local["epochs"], remote["epochs"])]
        whole = sum(local["epochs"]) / sum(remote["epochs"])
        print("rate of s3 / of files, by epoch:",
              " ".join(f"{r:.3f}" for r in ratios), f"; of all {whole:.3f}; "
              f"processor time {remote['processor'] / local['processor']:.3f}",
              flush=True)
    print(f"losses and parameters {'equal' if same else 'DIFFER'}; "
          f"{Proxy.requests} requests, faults {Proxy.faults}, at most "
          f"{Proxy.most_under_way / 1e6:.1f} MB under way, "
          f"{Proxy.asked / 1e6:.0f} MB asked for; load "
          f"{os.getloadavg()[0]:.1f}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
