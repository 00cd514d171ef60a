# SPDX-License-Identifier: Apache-2.0
"""Files of trained values, as far as they lie on this machine."""
import glob
import os

__all__ = ["get_model_file", "purge"]

_ROOT = os.path.join(os.environ.get("MXNET_HOME", os.path.join("~", ".mxnet")), "models")


def get_model_file(name, root=_ROOT):
    """The file `name.params`, or `name-….params`, in `root`; an OSError where there is none."""
    root = os.path.expanduser(root)
    found = sorted(glob.glob(os.path.join(root, glob.escape(name) + "-????????.params")))
    plain = os.path.join(root, name + ".params")
    if os.path.exists(plain):
        found.insert(0, plain)
    if not found:
        raise OSError(f"mxc downloads nothing: put the trained values of {name} at {plain}.")
    return found[0]


def purge(root=_ROOT):
    """Removes all files of values in `root`."""
    for path in glob.glob(os.path.join(os.path.expanduser(root), "*.params")):
        os.remove(path)
