#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: nodes.sh MXC_CASES LEAST [ARGUMENTS]: ONNX's node tests of three
# generations of its operators, 737 of float32, of ../shared/cases/onnx-node;
# fails, too, where fewer than LEAST pass, which a refusal would else hide. 77:
# they are not there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
shared=${MXC_SHARED:-$root/../shared}
[ -d "$shared" ] || shared=$root/../../shared
archive=$shared/cases/onnx-node/cases.tar.gz
[ -r "$archive" ] || { echo "skipped: no $archive"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar xzf "$archive" -C "$folder"
"$1" onnx "$folder" "${@:3}" | tee "$folder/report"
passed=$(sed -n 's/ passed, .*//p' "$folder/report")
[ "$passed" -ge "$2" ] || { echo "$passed passed, fewer than $2"; exit 1; }
