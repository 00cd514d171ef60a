# SPDX-License-Identifier: Apache-2.0
"""The Python of README.md and of runtime/python/TOUR.md, as printed."""
import json
import pathlib
import re
import shutil

import numpy as np

import mxc
from pictures import write_colours

ROOT = pathlib.Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
TOUR = (ROOT / "runtime/python/TOUR.md").read_text()


def test_readme_learns_where_a_stroke_lies(tmp_path, monkeypatch):
    network = re.search(r"cat >tiny.json <<'END'\n(.*?)\nEND\n", README, re.S)
    code = re.search(r"```python\n(.*?)```", README, re.S)
    (tmp_path / "tiny.json").write_text(network[1])
    monkeypatch.chdir(tmp_path)
    labels = np.arange(200, dtype=np.float32) % 10
    images = np.zeros((200, 1, 28, 28), np.float32)
    for image, label in zip(images, labels):
        image[0, 4 + 2 * int(label)] = 1
    names = {"images": images, "labels": labels}
    exec(compile(code[1], "README.md", "exec"), names)
    assert (names["digits"] == labels).mean() > 0.9


def test_the_tour_runs_from_its_beginning_to_its_end(tmp_path, monkeypatch):
    """On small stand-ins for its files."""
    monkeypatch.chdir(tmp_path)
    write_colours(tmp_path / "photos", count=12)
    shutil.copy("photos/green/0.png", "photo.jpg")
    network = {"mxc": 1, "inputs": {"data": ["N", 3, 8, 8]},
               "nodes": [{"op": "FullyConnected", "num_hidden": 10},
                         {"op": "SoftmaxOutput", "name": "softmax"}]}
    for name in ("lenet.json", "net.json"):
        pathlib.Path(name).write_text(json.dumps(network))
    photos = mxc.data("folder:photos", shape=(3, 8, 8),
                      options={"scale": 1 / 255})
    mxc.compile("lenet.json", "lenet.mxa", init="xavier", batch=4,
                classes=photos.classes, preprocessing=photos.preprocessing)
    draw = np.random.default_rng(1)
    labels = np.arange(640) % 10
    images = draw.normal(0, 0.1, (640, 3, 8, 8))
    images[np.arange(640), 0, labels % 8, labels // 8] += 1
    names = {"images": images.astype(np.float32), "labels": labels,
             "test_images": images[:99], "test_labels": labels[:99],
             "data": np.eye(64, 4, dtype=np.float32),
             "mask": (np.arange(64) % 8 == 1).astype(np.float32)}
    blocks = re.findall(r"```python\n(.*?)```", TOUR, re.S)
    assert len(blocks) == 7
    for block in blocks:
        exec(compile(block, "runtime/python/TOUR.md", "exec"), names)
    assert names["count"] == [8] and names["chosen"].shape == (8, 4)
    assert names["chosen"].sum() == 1  # the second row of the unit matrix
    assert names["history"]["val_accuracy"][-1] > 0.9
    assert (names["classes"] == labels[:99]).mean() > 0.9
    assert pathlib.Path("net-0010.params").exists()
    assert names["x"].grad.asnumpy().tolist() == [[2, 4], [6, 8]]
