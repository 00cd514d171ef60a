#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/remote/writing.py COPY BIN
What is written to URLs: an S3 (its signatures computed here), an Azure, a WebHDFS
and a plain HTTP server of our own keep objects in memory and fail, cut and forget
answers. An object is whole or as it was; a training whose checkpoints are there,
killed and resumed, leaves the bytes that one leaves on the disk. COPY is the
program mxc-copy, BIN the folder of mxc and mxc-run. Exits with 77 where there is
no libcurl."""
import collections
import ctypes
import html
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import reading

MIB = 1 << 20
LARGE = random.Random(2).randbytes(40 * MIB + 7)  # three parts
OTHER = random.Random(3).randbytes(17 * MIB)  # two
SMALL = b"small"
PAGE = 3  # names of a listing


class Fault(Exception):
    """The connection ends without an answer."""


class Handler(reading.Answering):
    lock = threading.RLock()
    objects = {}  # "/bucket/key": bytes
    uploads = {}  # id: {part: bytes}
    blocks = collections.defaultdict(dict)  # "/container/blob": {id: bytes}
    requests = []
    faults = {}  # a word of a request: what happens to the first such
    every = 0  # each so-manieth request is lost; 0: none
    broken = None  # a word of requests that are never answered well

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def handle_one(self):
        path, _, query = self.path.partition("?")
        path = urllib.parse.unquote(path)
        query = urllib.parse.parse_qs(query, keep_blank_values=True)
        self.query = {name: values[0] for name, values in query.items()}
        asked = f"{self.command} {self.path}"
        with self.lock:
            self.requests.append(asked)
            lost = self.every and len(self.requests) % self.every == 0
            fault = next((f for f in self.faults if f in asked), None)
            fault = self.faults.pop(fault) if fault else None
        sent = self.body()
        try:
            if fault == "before" or (lost and len(self.requests) % 2):
                raise Fault
            if fault == "503" or (self.broken and self.broken in asked):
                return self.answer(503)
            kind = path.split("/")[1]
            with self.lock:
                result = getattr(self, "on_" + kind)(path, sent)
            if fault == "after" or lost:
                raise Fault
            return self.answer(*result)
        except Fault:
            self.close_connection = True
        return None

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_one

    def give(self, path):
        if path not in self.objects:
            return 404, b"<Error><Code>NoSuchKey</Code></Error>"
        content, etag = self.objects[path]
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        if not span:
            return 200, content, [("ETag", etag)]
        begin, end = int(span[1]), min(int(span[2]) + 1, len(content))
        place = f"bytes {begin}-{end - 1}/{len(content)}"
        return 206, content[begin:end], [("Content-Range", place),
                                         ("ETag", etag)]

    def keep(self, path, content, parts=0):
        tail = f"-{parts}" if parts else ""
        self.objects[path] = content, f'"{hash(content) & 0xffffffff:x}{tail}"'

    def on_bucket(self, path, sent):
        if not reading.signature(self):
            return 403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>"
        if path.endswith("/forbidden") and self.command != "HEAD":
            return 403, b"<Error><Code>AccessDenied</Code></Error>"
        if self.query.get("list-type") == "2":
            return self.list_s3(path)
        if self.command == "POST" and "uploads" in self.query:
            name = f"id/{len(self.uploads)}+"
            self.uploads[name] = {}
            return 200, f"<UploadId>{name}</UploadId>".encode()
        if "uploadId" in self.query:
            return self.part_of_s3(path, sent)
        return self.plain(path, sent)

    def plain(self, path, sent):
        if self.command == "PUT":
            self.keep(path, sent)
            return 200, b""
        if self.command == "DELETE":
            return (204 if self.objects.pop(path, None) else 404), b""
        return self.give(path)

    def part_of_s3(self, path, sent):
        parts = self.uploads.get(self.query["uploadId"])
        if parts is None:
            return 404, b"<Error><Code>NoSuchUpload</Code></Error>"
        if self.command == "PUT":
            number = int(self.query["partNumber"])
            parts[number] = sent
            return 200, b"", [("ETag", f'"part{number}"')]
        del self.uploads[self.query["uploadId"]]
        if self.command == "DELETE":
            return 204, b""
        if path.endswith("/late"):
            return 200, b"<Error><Code>InternalError</Code></Error>"
        wanted = re.findall(rb'<PartNumber>(\d+)</PartNumber>'
                            rb'<ETag>"part(\d+)"</ETag>', sent)
        assert wanted and all(number == tag for number, tag in wanted), sent
        content = b"".join(parts[int(number)] for number, _ in wanted)
        self.keep(path, content, len(wanted))
        return 200, b"<CompleteMultipartUploadResult/>"

    def page_of(self, path, prefix, marker):
        """Names in one folder, or below it where no delimiter is told, from a
        marker on, and the next marker."""
        names = sorted(name[len(path):].lstrip("/") for name in self.objects
                       if name.startswith(path.rstrip("/") + "/"))
        below = self.query.get("delimiter") != "/"
        names = [name for name in names if name.startswith(prefix) and
                 (below or "/" not in name[len(prefix):]) and name > marker]
        more = len(names) > PAGE
        return names[:PAGE], names[PAGE - 1] if more else ""

    def list_s3(self, path):
        names, more = self.page_of(path, self.query["prefix"],
                                   self.query.get("continuation-token", ""))
        page = "<EncodingType>url</EncodingType>"
        page += "".join(
            f"<Contents><Key>{urllib.parse.quote_plus(n)}</Key>"
            f"<ETag>{html.escape(self.objects[f'{path}/{n}'][1])}</ETag>"
            f"<Size>{len(self.objects[f'{path}/{n}'][0])}</Size></Contents>"
            for n in names)
        page += "<CommonPrefixes><Prefix>deeper%2F</Prefix></CommonPrefixes>"
        if more:
            token = html.escape(more)
            page += f"<NextContinuationToken>{token}</NextContinuationToken>"
        return 200, page.encode()

    def on_container(self, path, sent):
        if self.query.get("sig") != "SECRETSIG=":
            return 403, b""
        if self.query.get("comp") == "list":
            names, more = self.page_of(path, self.query["prefix"],
                                       self.query.get("marker", ""))
            # In lists, tags have no quotes.
            page = "".join(
                f"<Blob><Name>{html.escape(n)}</Name><Properties>"
                f"<Content-Length>{len(self.objects[f'{path}/{n}'][0])}"
                f"</Content-Length><Etag>"
                f"{self.objects[f'{path}/{n}'][1][1:-1]}"
                f"</Etag></Properties></Blob>" for n in names)
            return 200, f"{page}<NextMarker>{more}</NextMarker>".encode()
        if self.query.get("comp") == "block":
            self.blocks[path][self.query["blockid"]] = sent
            return 201, b""
        if self.query.get("comp") == "blocklist":
            ids = re.findall(rb"<Latest>(.*?)</Latest>", sent)
            self.keep(path, b"".join(self.blocks[path][i.decode()]
                                     for i in ids))
            return 201, b""
        if self.command == "PUT":
            assert self.headers["x-ms-blob-type"] == "BlockBlob"
        return self.plain(path, sent)

    def on_webhdfs(self, path, sent):
        path = path.removeprefix("/webhdfs/v1")
        op = self.query["op"]
        if op == "CREATE":
            assert not sent
            return 307, b"", [("Location", "/datanode" +
                               urllib.parse.quote(path))]
        if op == "RENAME":
            to = self.query["destination"]
            done = path in self.objects and to not in self.objects
            if done:
                self.objects[to] = self.objects.pop(path)
            return 200, json.dumps({"boolean": done}).encode()
        if op == "DELETE":
            done = self.objects.pop(path, None) is not None
            return 200, json.dumps({"boolean": done}).encode()
        if op == "LISTSTATUS":
            path = path.rstrip("/")
            files = [{"pathSuffix": name.rpartition("/")[2], "type": "FILE",
                      "length": len(content)}
                     for name, (content, _) in self.objects.items()
                     if name.rpartition("/")[0] == path]
            folders = {name[len(path) + 1:].partition("/")[0]
                       for name in self.objects if name.startswith(path + "/")
                       and "/" in name[len(path) + 1:]}
            files += [{"pathSuffix": name, "type": "DIRECTORY"}
                      for name in sorted(folders)]
            if not files:
                return 404, b"{}"
            files.append({"pathSuffix": "net-folder", "type": "DIRECTORY"})
            return 200, json.dumps(
                {"FileStatuses": {"FileStatus": files}}).encode()
        if path not in self.objects:
            return 404, b"{}"
        content = self.objects[path][0]
        if op == "OPEN":
            begin = int(self.query["offset"])
            return 200, content[begin:begin + int(self.query["length"])]
        return 200, json.dumps({"FileStatus": {"length": len(content)}}).encode()

    def on_datanode(self, path, sent):
        self.keep(path.removeprefix("/datanode"), sent)
        return 201, b""

    def on_dav(self, path, sent):
        return self.plain(path, sent)


class Client:
    def __init__(self, copy, base, folder):
        self.copy, self.base, self.folder = copy, base, folder
        self.host = base[len("http://"):]
        self.environment = {
            **os.environ, "HOME": str(folder), "MXC_REMOTE_CACHE":
            str(folder / "cache"), "AWS_ENDPOINT_URL": base,
            "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": reading.KEY,
            "AWS_SECRET_ACCESS_KEY": reading.SECRET,
            "AWS_SESSION_TOKEN": reading.SESSION,
            "AZURE_STORAGE_BLOB_ENDPOINT": base,
            "AZURE_STORAGE_SAS_TOKEN": reading.SAS, "HADOOP_USER_NAME": "hans"}

    def run(self, *words, limit=resource.RLIM_INFINITY):
        """`limit`: the most bytes of a file; a longer one fails as on a full disk."""
        done = subprocess.run(
            [self.copy, *map(str, words)], capture_output=True, text=True,
            env=self.environment, timeout=120, restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)))
        printed = done.stdout + done.stderr
        assert not any(s in printed for s in reading.SECRETS), printed
        return done.returncode, printed

    def put(self, content, url, **options):
        file = self.folder / "content"
        file.write_bytes(content)
        return self.run("put", file, url, **options)


def check_together(client, scheme, place):
    """Files at any depth come as if they were one."""
    code, told = client.run("together", f"{scheme}/a")
    if scheme.startswith("http:"):
        assert code == 1 and "does not say which files" in told, told
        return
    want = {name[len(f"{place}/a/"):]: f"{len(content)} {sum(content)}"
            for name, (content, _) in Handler.objects.items()
            if name.startswith(f"{place}/a/")}
    got = dict(re.fullmatch(r"(.*) (\d+ \d+)", line).groups()
               for line in told.splitlines())
    assert code == 0 and got == want and "b/net-5" in got, (scheme, told)


def check_objects(client):
    """Each kind of server takes, gives, lists and removes."""
    for scheme, place in (("s3://bucket", "/bucket"),
                          ("az://container", "/container"),
                          (f"webhdfs://{client.host}", ""),
                          (f"http://{client.host}/dav", "/dav")):
        for content, name in ((SMALL, "a/net-1 &+ü.bin"), (LARGE, "a/net-2"),
                              (b"", "a/net-3"), (OTHER, "a/net-2"),
                              (SMALL, "a/net-4"), (SMALL, "a/other"),
                              (SMALL, "a/b/net-5"), (SMALL, "net-top")):
            asked = urllib.parse.quote(name) if place == "/dav" else name
            told = client.put(content, f"{scheme}/{asked}")
            assert told == (0, ""), (scheme, name, told)
            assert Handler.objects[f"{place}/{name}"][0] == content, name
        code, told = client.run(f"{scheme}/a/net-2")
        assert code == 0, told
        assert pathlib.Path(told.strip()).read_bytes() == OTHER
        code, told = client.run("list", f"{scheme}/a/net-")
        if scheme.startswith("http:"):
            assert code == 1 and "does not say which files" in told, told
        else:
            names = ["net-1 &+ü.bin", "net-2", "net-3", "net-4"]
            assert code == 0 and told.splitlines() == names, (scheme, told)
            assert client.run("list", f"{scheme}/net") == (0, "net-top\n")
            assert client.run("list", f"{scheme}/none/x") == (0, ""), scheme
        check_together(client, scheme, place)
        for _ in range(2):
            assert client.run("remove", f"{scheme}/a/net-4") == (0, ""), scheme
        assert f"{place}/a/net-4" not in Handler.objects
        Handler.objects.clear()
    assert not Handler.uploads


def check_faults(client):
    """An object is whole, or as it was, whatever is lost on the way."""
    for words, faults in ((SMALL, ("PUT /bucket",)),
                          (LARGE, ("uploads=", "partNumber=2", "POST"))):
        for word in faults:
            for fault in ("before", "503", "after"):
                Handler.faults.update({word: fault})
                assert client.put(words, "s3://bucket/x") == (0, ""), word
                assert not Handler.faults
                assert Handler.objects["/bucket/x"][0] == words
    # An upload whose id was lost is nobody's, and cannot be taken back.
    Handler.uploads.clear()
    Handler.requests.clear()
    Handler.faults["POST /bucket/y?uploadId"] = "after"  # done, and not told
    assert client.put(OTHER, "s3://bucket/y") == (0, "")
    assert Handler.objects["/bucket/y"][0] == OTHER
    Handler.keep(Handler, "/bucket/late", SMALL)
    code, told = client.put(LARGE, "s3://bucket/late")
    assert code == 1 and "'s3://bucket/late': the server" in told, told
    assert "InternalError" in told and told.count("\n") == 1, told
    assert Handler.objects["/bucket/late"][0] == SMALL
    code, told = client.put(SMALL, "s3://bucket/forbidden")
    assert code == 1, told
    assert "does not let these keys write it (403, AccessDenied)" in told, told
    code, told = client.put(LARGE, "s3://bucket/forbidden")
    assert code == 1 and "AccessDenied" in told, told
    assert not Handler.uploads
    # What has no room is the temporary file; a name's query may be a secret.
    client.environment["TMPDIR"] = str(client.folder)
    code, told = client.put(LARGE, f"{client.base}/x?sig={reading.SAS}",
                            limit=1 << 20)
    assert code == 1 and f"cannot write '{client.folder}/'" in told, told
    del client.environment["TMPDIR"]
    code, told = client.put(SMALL, "ftp://host/x")
    assert code == 1 and "'ftp' is none of file, http" in told, told
    code, told = client.put(SMALL, f"file://{client.folder}/deep/x")
    assert code == 0, told
    assert (client.folder / "deep/x").read_bytes() == SMALL


def check_training(client, bin_folder):
    mlp = pathlib.Path(__file__).resolve().parents[2] / "models" / "mlp.json"
    words = [bin_folder / "mxc", "train", mlp, "--data", "digits", "--epochs",
             "3", "--seed", "7", "--lr", "0.1", "--optimizer", "adam",
             "--keep-epochs", "2", "--early-stop", "patience=2"]

    def train(*more, prefix, **options):
        return subprocess.Popen([*words, "--save", prefix, *more], text=True,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT,
                                env=client.environment, **options)

    def files(prefix):
        return {name[len(prefix):]: content for name, (content, _)
                in Handler.objects.items() if name.startswith(prefix)}

    local = client.folder / "net"
    done = train(prefix=local)
    assert done.wait() == 0, done.stdout.read()
    expected = {path.name[len("net"):]: path.read_bytes()
                for path in client.folder.glob("net-*")}
    assert len(expected) >= 5, expected.keys()
    Handler.every = 9  # each ninth request is lost
    done = train(prefix="s3://bucket/run/net")
    told = done.communicate()[0]
    assert done.returncode == 0, told
    Handler.every = 0
    assert files("/bucket/run/net") == expected, told
    # Another run does not write over it, and one that was killed goes on.
    done = train(prefix="s3://bucket/run/net")
    told = done.communicate()[0]
    assert done.returncode == 1, told
    assert "'s3://bucket/run/net' is the prefix of an earlier run" in told, told
    killed = train("--save-every", "20", prefix="s3://bucket/run/two")
    while not files("/bucket/run/two-0001.mxc"):
        assert killed.poll() is None, killed.stdout.read()
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    done = train("--resume", prefix="s3://bucket/run/two")
    told = done.communicate()[0]
    assert done.returncode == 0, told
    assert "resumed from s3://bucket/run/two-" in told, told
    ends = {name: content for name, content in expected.items()
            if name.endswith(("0003.params", "0003.states", "best.params"))}
    assert ends.items() <= files("/bucket/run/two").items()
    # A server that does not list is no reason to begin anew.
    Handler.broken = "list-type"
    before = files("/bucket/run/two")
    done = train("--resume", prefix="s3://bucket/run/two")
    told = done.communicate()[0]
    assert done.returncode == 1 and "does not recover (503)" in told, told
    assert files("/bucket/run/two") == before
    Handler.broken = None
    Handler.objects["/bucket/run/two-0009.mxc"] = (b"damaged", '"d"')
    done = train("--resume", prefix="s3://bucket/run/two")
    told = done.communicate()[0]
    assert done.returncode != 0 and "two-0009.mxc" in told, told
    done = train(prefix=f"http://{client.host}/dav/net")
    told = done.communicate()[0]
    assert done.returncode == 1 and "does not say which files" in told, told
    url = "s3://bucket/net.mxa"
    for to in (url, client.folder / "net.mxa"):
        done = subprocess.run([bin_folder / "mxc", "compile",
                               "s3://bucket/run/net-symbol.json", "--params",
                               "s3://bucket/run/net-0003.params", "-o", to],
                              capture_output=True, text=True,
                              env=client.environment)
        assert done.returncode == 0, done.stdout + done.stderr
    made = (client.folder / "net.mxa").read_bytes()
    assert Handler.objects["/bucket/net.mxa"][0] == made


def main():
    copy, bin_folder = sys.argv[1], pathlib.Path(sys.argv[2])
    try:
        ctypes.CDLL("libcurl.so.4")
    except OSError:
        print("skipped: no libcurl")
        sys.exit(77)
    server = reading.Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder:
        client = Client(copy, base, pathlib.Path(folder))
        check_objects(client)
        check_faults(client)
        check_training(client, bin_folder)
    print("objects by URL: whole, or as they were")


if __name__ == "__main__":
    main()
