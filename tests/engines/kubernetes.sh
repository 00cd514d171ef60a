#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/kubernetes.sh BIN [PYTHON]
# manifests.py, with a network. PYTHON has the package kubernetes.
set -euo pipefail
bin=$(realpath "$1") python=${2:-python3}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bin/mxc" compile "$here/../../models/mlp.json" --entry grad,update,score \
  --init xavier --input-shape data:16x784 --opt momentum=0.9 \
  -o "$work/mlp.mxa" --quiet
"$python" "$here/manifests.py" "$bin" "$work/mlp.mxa" "$work"
