#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: unpack_pictures.py SOURCE TARGET

The pictures of cifar10-png100, in a folder for each label.
"""

import csv
import pathlib
import sys
import zipfile

source, target = map(pathlib.Path, sys.argv[1:])
labels = dict(csv.reader((source / "trainLabels.csv").open()))
with zipfile.ZipFile(source / "train_tiny.zip") as pictures:
    for name in pictures.namelist():
        if name.endswith(".png"):
            file = pathlib.Path(name)
            path = target / labels[file.stem] / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pictures.read(name))
