#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: peers.sh FOLDER_OF_MXC infer|train NETWORK... [-- OPTION...]
# Times mxc beside other libraries, in turns, on this machine; OPTIONs are those
# of $MXC_SHARED/bench/compare.py or train_peers.py (--threads, --batch, --peers,
# --rounds). Models come from make_models.py there, its README.md says how.
set -euo pipefail
tools=$(cd "$1" && pwd) mode=$2
shift 2
networks=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do networks+=("$1"); shift; done
[ $# -eq 0 ] || shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bench=${MXC_SHARED:-$here/../../../shared}/bench
python=${MXC_BENCH:-$HOME/.cache/mxc-bench}/venv/bin/python
case $mode in
  infer) program=compare.py ;;
  train) program=train_peers.py ;;
  *) echo "peers.sh: '$mode' is neither infer nor train" >&2; exit 2 ;;
esac
cd "$bench"
exec "$python" "$program" "${networks[@]}" "$@" --worker \
  "$python $here/peer_worker.py $mode $tools {prefix} {input} {threads}"
