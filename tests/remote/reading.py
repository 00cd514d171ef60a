#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/remote/run.py COPY
Objects by URL from servers of our own: HTTP with every fault that a server or a
network has, S3 whose signatures are computed here a second time, Azure's tokens,
WebHDFS with its redirect. COPY is the program mxc-copy. Exits with 77 where there
is no libcurl."""
import ctypes
import hashlib
import hmac
import http.server
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.parse

MIB = 1 << 20
LARGE = random.Random(1).randbytes(10 * MIB + 123)
SMALL = b"small"
KEY, SECRET, SESSION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "SESSIONTOKEN"
SAS = "sv=2021&sig=SECRETSIG%3D"
SECRETS = (SECRET, SESSION, "SECRETSIG", "PASSWORD", "PRESIGNED")


def signature(handler, region="eu-west-1"):
    """What AWS' documents make of a request (Signature Version 4)."""
    told = handler.headers["Authorization"] or ""
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/s3/aws4_request, "
        r"SignedHeaders=([^,]+), Signature=([0-9a-f]+)", told)
    if not match or match[1] != KEY or match[3] != region:
        return False
    path, _, query = handler.path.partition("?")
    names = match[4].split(";")
    canonical = "\n".join([
        handler.command, path, query,
        *[f"{n}:{handler.headers[n].strip()}" for n in names], "",
        match[4], handler.headers["x-amz-content-sha256"]])
    scope = f"{match[2]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", handler.headers["x-amz-date"], scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in (match[2], region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    want = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return want == match[5] and "x-amz-security-token" in names


def is_open(connection):
    """Whether the other side has not closed it."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # clients go away in the middle


class Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class Handler(Answering):
    requests = []  # "GET /path"
    ranges = []  # of what stalls
    stalled, waited_for = [], []  # connections, and whether they were given up
    never = threading.Event()

    lock = threading.Lock()

    def object(self, content, etag='"v1"', ranges=True, spoil=None):
        """The object or its range; `spoil` changes what is sent."""
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        if not span or not ranges:
            return self.answer(200, content, [("ETag", etag)])
        begin, end = int(span[1]), min(int(span[2]) + 1, len(content))
        part = content[begin:end]
        place = f"bytes {begin}-{end - 1}/{len(content)}"
        if spoil:
            part, place, etag = spoil(part, place, etag)
        return self.answer(206, part, [("Content-Range", place),
                                       ("ETag", etag)])

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with self.lock:
            self.requests.append(f"{self.command} {self.path}")
            number = len(self.requests)
        kind = self.path.split("/")[1].split("?")[0]
        getattr(self, "get_" + kind, self.get_missing)(number)

    def get_missing(self, _):
        self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def get_ok(self, _):
        self.object(LARGE)

    def get_small(self, _):
        self.object(SMALL)

    def get_empty(self, _):
        self.object(b"")

    def get_forbidden(self, _):
        self.answer(403, b"<Error><Code>AccessDenied</Code></Error>")

    def get_expired(self, _):
        self.answer(400, b"<Error><Code>ExpiredToken</Code></Error>")

    def get_broken(self, _):
        self.answer(503, b"down")

    def get_nohead(self, _):
        if self.command == "HEAD":
            return self.answer(405)
        return self.object(LARGE)

    def get_flaky(self, number):
        """Of three requests one fails, each time in another way."""
        if self.command == "HEAD" or number % 3:
            return self.object(LARGE)
        if number % 2:
            return self.answer(500)
        self.send_response(206)
        self.send_header("Content-Length", str(4 * MIB))
        self.end_headers()
        self.wfile.write(b"half")
        self.close_connection = True
        return None

    def get_stall(self, _):
        if self.command == "HEAD":
            return self.object(LARGE)
        asked = self.headers["Range"]
        with self.lock:
            self.ranges.append(asked)
            number = self.ranges.count(asked)
            first = len(self.ranges) == 1
        if first:
            self.stalled.append(self.connection)
            self.never.wait()  # who asks a second time is answered
        if number == 2:
            self.waited_for.append(is_open(self.stalled[0]))
        return self.object(LARGE)

    def get_noranges(self, _):
        self.object(LARGE, ranges=False)

    def get_smallnoranges(self, _):
        self.object(SMALL, ranges=False)

    def get_short(self, _):
        self.object(LARGE, spoil=lambda p, r, e: (p[:-1], r, e))

    def get_long(self, _):
        self.object(LARGE, spoil=lambda p, r, e: (p + b"x" * MIB, r, e))

    def get_elsewhere(self, _):
        self.object(LARGE, spoil=lambda p, r, e: (p, "bytes 7-9/10", e))

    def get_changed(self, _):
        self.object(LARGE, spoil=lambda p, r, e: (p, r, '"v2"'))

    def get_replaced(self, _):
        """As S3, where there is another object by now."""
        if self.headers["If-Match"] == '"v1"':
            return self.answer(412)
        return self.object(LARGE)

    def get_shrunk(self, _):
        if self.command == "GET":
            return self.answer(416)
        return self.object(LARGE)

    def get_headers(self, _):
        self.answer(200, SMALL, [("X-Long", "x" * 100_000)])

    def get_huge(self, _):
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 62))
        self.end_headers()

    def get_negative(self, _):
        self.send_response(200)
        self.send_header("Content-Length", "-5")
        self.end_headers()
        self.close_connection = True

    def get_loop(self, _):
        self.answer(302, b"", [("Location", "/loop/x")])

    def get_tofile(self, _):
        self.answer(302, b"", [("Location", "file:///etc/passwd")])

    def get_bucket(self, _):
        if self.path.endswith("/moved"):
            return self.answer(307, b"", [("Location", "/leak")])
        if not signature(self):
            return self.answer(
                403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        return self.object(LARGE)

    def get_container(self, _):
        if self.path.partition("?")[2] != SAS:
            return self.answer(403)
        return self.object(LARGE)

    def get_webhdfs(self, _):
        query = urllib.parse.parse_qs(self.path.partition("?")[2])
        if query.get("user.name") != ["hans"]:
            return self.answer(401)
        if query["op"] == ["GETFILESTATUS"]:
            return self.answer(200, b'{"FileStatus":{"length":%d,'
                               b'"modificationTime":77}}' % len(LARGE))
        return self.answer(307, b"", [("Location", "/datanode?" +
                                       self.path.partition("?")[2])])

    def get_datanode(self, _):
        query = urllib.parse.parse_qs(self.path.partition("?")[2])
        begin, length = int(query["offset"][0]), int(query["length"][0])
        self.answer(200, LARGE[begin:begin + length])


def main():
    copy = sys.argv[1]
    try:
        ctypes.CDLL("libcurl.so.4")
    except OSError:
        print("skipped: no libcurl")
        sys.exit(77)
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder:
        check(copy, base, pathlib.Path(folder))
    print("objects by URL: the same bytes, or one sentence")


def check(copy, base, folder):
    cache = folder / "cache"
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder),
        "MXC_REMOTE_CACHE": str(cache), "AWS_ENDPOINT_URL": base,
        "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": SESSION,
        "AZURE_STORAGE_BLOB_ENDPOINT": base, "AZURE_STORAGE_SAS_TOKEN": SAS,
        "HADOOP_USER_NAME": "hans"}

    def run(url, **changes):
        variables = {**environment, **changes}
        done = subprocess.run([copy, url], capture_output=True, text=True,
                              env=variables, timeout=120)
        printed = done.stdout + done.stderr
        assert not any(secret in printed for secret in SECRETS), printed
        assert printed.count("\n") == 1, (url, printed)
        return done.returncode, printed.strip()

    def same(url, content, **changes):
        code, path = run(url, **changes)
        assert code == 0, (url, path)
        assert pathlib.Path(path).read_bytes() == content, url
        return path

    def refused(url, sentence, **changes):
        code, told = run(url, **changes)
        assert code == 1 and re.search(sentence, told), (url, told)
        assert not list(cache.rglob("*.part")), url

    host = base[len("http://"):]
    path = same(f"{base}/ok/data.rec", LARGE)
    assert path.endswith("/data.rec"), path
    Handler.requests.clear()
    assert same(f"{base}/ok/data.rec", LARGE) == path
    assert Handler.requests == ["HEAD /ok/data.rec"], Handler.requests
    for name, content in (("small", SMALL), ("empty", b""), ("nohead", LARGE),
                          ("flaky", LARGE), ("smallnoranges", SMALL)):
        same(f"{base}/{name}/x", content)
    Handler.ranges.clear()
    same(f"{base}/stall/x", LARGE)
    assert Handler.ranges.count(Handler.ranges[0]) == 2, Handler.ranges
    assert Handler.waited_for == [True]  # while the first one was still awaited
    same(f"http://user:PASSWORD@{host}/ok/y?sig=PRESIGNED", LARGE)

    same("s3://bucket/deep/a key+~.rec", LARGE)
    refused("s3://bucket/x", r"does not let these keys read it \(403",
            AWS_ACCESS_KEY_ID="OTHER")
    refused("s3://bucket/moved", r"answers what it should not \(307\)")
    assert not any("/leak" in request for request in Handler.requests)
    credentials = folder / ".aws" / "credentials"
    credentials.parent.mkdir()
    credentials.write_text(
        f"[default]\naws_access_key_id = x\n[work]\naws_access_key_id = {KEY}\n"
        f"aws_secret_access_key={SECRET}\naws_session_token = {SESSION}\n")
    same("s3://bucket/of/profile", LARGE, AWS_ACCESS_KEY_ID="",
         AWS_PROFILE="work")
    same("az://container/blob.npy", LARGE)
    refused("az://container/blob.npy", r"\(403\)", AZURE_STORAGE_SAS_TOKEN="a=b")
    same(f"webhdfs://{host}/data/x.rec", LARGE)
    refused(f"webhdfs://{host}/data/x.rec", r"does not let", HADOOP_USER_NAME="")
    check_bound(same, refused, folder / "bounded", base)
    (folder / "local").write_bytes(SMALL)
    same(f"file://{folder}/local", SMALL)
    same(str(folder / "local"), SMALL)

    refused(f"{base}/nothing/x", r"has no such object \(404, NoSuchKey\)")
    refused(f"{base}/forbidden/x", r"does not let .* \(403, AccessDenied\)")
    refused(f"{base}/expired/x", r"the keys have expired")
    refused(f"{base}/broken/x", r"does not recover \(503\)")
    refused(f"{base}/noranges/x", r"gives no part of it")
    refused(f"{base}/short/x", r"sends \d+ bytes, \d+ were asked for")
    refused(f"{base}/long/x", r"sends more than it should")
    refused(f"{base}/elsewhere/x", r"gives no part of it")
    refused(f"{base}/changed/x", r"has changed while it was read")
    refused(f"{base}/replaced/x", r"has another object there since .* \(412\)")
    refused(f"{base}/shrunk/x", r"has another object there since .* \(416\)")
    refused(f"{base}/headers/x", r"sends more than it should")
    refused(f"{base}/huge/x", r"says that it has 4611686018427387904 bytes")
    refused(f"{base}/negative/x", r"^'http")
    refused(f"{base}/loop/x", r"does not answer: .*redirect")
    refused(f"{base}/tofile/x", r"does not answer: Unsupported protocol")
    refused("http://127.0.0.1:1/x?sig=PRESIGNED",
            r"^'http://127.0.0.1:1/x': the server does not answer")
    refused("ftp://host/x", r"'ftp' is none of file, http, https, s3, az")
    refused("s3://bucket", r"expected s3://BUCKET/KEY")
    refused("file://relative", r"expected file:///PATH")
    refused("http:///x", r"expected a host")
    refused(f"{base}/ok/new", r"cannot create", MXC_REMOTE_CACHE="/proc/no")


def check_bound(same, refused, cache, base):
    """What was used longest ago leaves a cache with a bound."""
    bound = {"MXC_REMOTE_CACHE": str(cache),
             "MXC_REMOTE_CACHE_BYTES": str(2 * len(LARGE) + 1000)}
    first = pathlib.Path(same(f"{base}/ok/1", LARGE, **bound))
    second = pathlib.Path(same(f"{base}/ok/2", LARGE, **bound))
    os.utime(first, (1, 1))
    os.utime(second, (2, 2))
    same(f"{base}/ok/1", LARGE, **bound)  # it is used
    same(f"{base}/ok/3", LARGE, **bound)
    assert first.exists() and not second.exists()
    bound["MXC_REMOTE_CACHE_BYTES"] = "1000"
    refused(f"{base}/ok/4", r"MXC_REMOTE_CACHE_BYTES allows 1000", **bound)
    assert first.exists()
    bound["MXC_REMOTE_CACHE_BYTES"] = "10G"
    refused(f"{base}/ok/4", r"is '10G', expected a number of bytes", **bound)


if __name__ == "__main__":
    main()
