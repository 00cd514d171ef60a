#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: node.sh BIN_DIR
# node.mjs, where there is Node; else exits with 77.
command -v node >/dev/null || exit 77
exec node "$(dirname "$0")/node.mjs" "$1"
