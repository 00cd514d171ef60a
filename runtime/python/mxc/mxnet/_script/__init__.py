# SPDX-License-Identifier: Apache-2.0
"""What `python -m mxc.mxnet` does to a process before a script runs in it."""
