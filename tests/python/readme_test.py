# SPDX-License-Identifier: Apache-2.0
"""The Python of README.md, as printed."""
import pathlib
import re

import numpy as np

README = (pathlib.Path(__file__).parents[2] / "README.md").read_text()


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
    found = names["trainer"].predict(images, labels).argmax(axis=1)
    assert (found == labels).mean() > 0.9
