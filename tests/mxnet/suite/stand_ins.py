# SPDX-License-Identifier: Apache-2.0
"""Data that example scripts look for, made of shared/cases/data, laid where they look:
MNIST as it is; pictures, texts and tables of other names and the same form, smaller
than those that the scripts would download. The same bytes for both sides."""

import bz2
import csv
import gzip
import io
import shutil
import struct
import tarfile
import zipfile
from pathlib import Path

_RECORD = 0xCED7230A
# Where scripts look for a text in three parts, and for what file names.
_TEXTS = ("sherlockholmes", "ptb", "wiki")


def lay(tree, home, cases):
    """Fills data/ beside every script of `tree`, and `home`, their $HOME."""
    store = tree.parent / f"{tree.name}.data"
    _make(Path(cases), store)
    scripts = (tree / "example").rglob("*.py")
    for folder in sorted({folder for file in scripts for folder in file.parents
                          if tree / "example" in folder.parents}):
        _link_all(store / "data", folder / "data")
        _link_all(store / "beside", folder)
    _link_all(store / "home", home / ".mxnet/datasets")


def _link_all(source, target):
    """Folders are made, files linked; what a script writes stays its own."""
    for file in sorted(source.rglob("*")):
        place = target / file.relative_to(source)
        if file.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        elif not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file)


def _make(cases, store):
    data, beside, home = (store / name for name in ("data", "beside", "home"))
    for folder in (data, beside, home):
        folder.mkdir(parents=True)
    _mnist(cases / "mnist", data, home)
    pictures = _cifar_pictures(cases / "cifar10-png100")
    for name, part in (("train", pictures), ("test", pictures[:50])):
        _write_records(data / "cifar" / f"{name}.rec", part)
        (data / "cifar" / f"{name}.lst").write_text("".join(
            f"{place}\t{label}\t{place}.png\n" for place, (label, _) in enumerate(part)))
    with zipfile.ZipFile(data / "cifar10.zip", "w") as archive:
        for file in sorted((data / "cifar").iterdir()):
            archive.write(file, f"cifar/{file.name}")
    for name, part in (("train", pictures), ("val", pictures[:50])):
        _write_records(data / f"cifar10_{name}.rec", part)
    _write_texts(cases / "tinyshakespeare/input.txt", data)
    digits = [[int(word) for word in line.split(",")] for line in
              (cases / "optdigits/optdigits.tra").read_text().splitlines()
              if line and not line.startswith("#")]
    _write_svm(digits, data)
    _write_series(digits, data)
    _write_ratings(digits, data, beside)
    _write_photos(cases, data, beside, home)


def _mnist(cases, data, home):
    (home / "mnist").mkdir()
    for packed in sorted(cases.glob("*.gz")):
        shutil.copyfile(packed, home / "mnist" / packed.name)
        shutil.copyfile(packed, data / packed.name)
        (data / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    # The first digits as grey pictures of 32x32.
    (data / "digits").mkdir()
    pixels = (data / "t10k-images-idx3-ubyte").read_bytes()[16:]
    for turn in range(128):
        rows = [pixels[28 * row:28 * row + 28].center(32, b"\0")
                for row in range(28 * turn, 28 * turn + 28)]
        picture = b"".join([bytes(64), *rows, bytes(64)])
        (data / "digits" / f"{turn}.pgm").write_bytes(b"P5 32 32 255\n" + picture)


def _cifar_pictures(cases):
    """[(class, bytes of a PNG)]."""
    with open(cases / "trainLabels.csv", newline="") as file:
        labels = {row["id"]: row["label"] for row in csv.DictReader(file)}
    classes = sorted(set(labels.values()))
    with zipfile.ZipFile(cases / "train_tiny.zip") as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".png"))
        return [(classes.index(labels[Path(name).stem]), archive.read(name))
                for name in names]


def _write_records(file, pictures):
    """RecordIO: a header with the label before each picture; an index beside."""
    file.parent.mkdir(exist_ok=True)
    lines, written = [], io.BytesIO()
    for number, (label, picture) in enumerate(pictures):
        lines.append(f"{number}\t{written.tell()}\n")
        body = struct.pack("<IfQQ", 0, label, number, 0) + picture
        written.write(struct.pack("<II", _RECORD, len(body)) + body)
        written.write(b"\0" * (-len(body) % 4))
    file.write_bytes(written.getvalue())
    file.with_suffix(".idx").write_text("".join(lines))


def _write_texts(file, data):
    lines = file.read_text().splitlines(keepends=True)
    parts = {"train": lines[:4000], "valid": lines[4000:4600],
             "test": lines[4600:5200]}
    for name in _TEXTS:
        for part, words in parts.items():
            (data / f"{name}.{part}.txt").write_text("".join(words))
    for part, words in parts.items():
        (data / f"{part}.txt").write_text("".join(words))
    (data / "text8").write_text("".join(lines[:4000]).replace("\n", " "))


def _write_svm(digits, data):
    """Digits as LibSVM has them: two classes, and a number to be predicted."""
    def lines(rows, label):
        return "".join(f"{label(row)} " + " ".join(
            f"{place + 1}:{value / 16}" for place, value in enumerate(row[:64])
            if value) + "\n" for row in rows)

    for name, rows in (("", digits[:3000]), (".t", digits[3000:])):
        for file, text in (
                (f"avazu-app{name}", lines(rows, lambda row: row[64] % 2)),
                (f"YearPredictionMSD{name}", lines(rows, lambda row: 1990 + row[64]))):
            (data / file).write_text(text)
            (data / f"{file}.bz2").write_bytes(bz2.compress(text.encode()))


def _write_series(digits, data):
    """A table of series: 64 columns, a row for each hour."""
    (data / "electricity.txt").write_text(
        "".join(",".join(map(str, row[:64])) + "\n" for row in digits[:2000]))


def _write_ratings(digits, data, beside):
    """MovieLens' forms: who (a digit) rates what (a place) how high (1 to 5)."""
    def rows(first, last):
        for user in range(first, last):
            for item in range(user % 3, 64, 3):
                score = 1 + digits[user][item] // 4
                yield user - first + 1, item + 1, score, 880000000

    small, large = beside / "ml-100k", data / "ml-10M100K"
    for folder in (small, large, beside / "ml-10M100K"):
        folder.mkdir()
    (beside / "ml-100k.zip").touch()
    (beside / "ml-10m.zip").touch()
    parts = {"base": list(rows(0, 900)), "test": list(rows(900, 1000))}
    for part, found in parts.items():
        text = "".join("\t".join(map(str, row)) + "\n" for row in found)
        (small / f"u1.{part}").write_text(text)
    (small / "u.data").write_text((small / "u1.base").read_text())
    for part, name in (("base", "r1.train"), ("test", "r1.test")):
        text = "".join("::".join(map(str, row)) + "\n" for row in parts[part])
        (large / name).write_text(text)
        (beside / "ml-10M100K" / name).write_text(text)


def _write_photos(cases, data, beside, home):
    """Photos in folders: of styles and contents, of classes, to be enlarged."""
    photos = sorted((cases / "images").glob("*.jpg"))
    for name in ("images/content", "images/styles", "images/9styles", "dataset/photos"):
        (beside / name).mkdir(parents=True)
        for photo in photos:
            shutil.copyfile(photo, beside / name / photo.name)
    for name in ("content/venice-boat", "9styles/candy"):
        shutil.copyfile(photos[0], beside / f"images/{name}.jpg")
    for part in ("train", "test", "val"):
        folder = home / "BSDS500/images" / part
        folder.mkdir(parents=True)
        for turn in range(3):
            for photo in photos:
                shutil.copyfile(photo, folder / f"{turn}{photo.name}")
    with tarfile.open(cases / "lfw-aligned-100pair/images.tar.gz") as tar:
        tar.extractall(data / "faces", filter="data")
    for part in ("train", "val"):
        for place, photo in enumerate(photos):
            folder = data / f"imagenet/{part}/n0{1440764 + place}"
            folder.mkdir(parents=True)
            for turn in range(4):
                shutil.copyfile(photo, folder / f"{turn}.jpg")
