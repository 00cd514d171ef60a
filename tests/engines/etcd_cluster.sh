#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/etcd_cluster.sh BIN
# A job whose servers only etcd knows, with a real etcd of three members that
# speaks https with who has a certificate of its authority. While the job trains,
# the member that leads is killed, then a worker, which comes back by what the
# other two members know. It learns the bytes of undisturbed local processes. Who has no certificate, or another authority, is told so.
set -euo pipefail
bin=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
require etcd curl openssl
export PATH=$bin:$PATH
work=$(mktemp -d)
pids=()
trap 'kill -9 $(jobs -p) "${pids[@]}" 2>/dev/null || true
  sleep 0.2; rm -rf "$work"' EXIT
export TMPDIR=$work
cd "$work"

# authority NAME; certificate NAME AUTHORITY: etcd's gateway shows its members
# the one that it has as a server.
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 \
    -subj "/CN=$1" -keyout "$1.key" -out "$1.pem" 2>/dev/null
}
certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial \
    -days 1 -extfile <(echo "subjectAltName=IP:127.0.0.1") -out "$1.pem" 2>/dev/null
}
authority site
authority other
certificate member site
certificate node site

url() { echo "https://127.0.0.1:2379$1"; }
peer() { echo "http://127.0.0.1:2389$1"; }
ask() { # MEMBER PATH
  curl -fs --max-time 2 --cacert site.pem --cert node.pem --key node.key \
    -d '{}' "$(url "$1")/$2"
}
for i in 0 1 2; do
  etcd --name "m$i" --data-dir "$work/etcd$i" --initial-cluster-token mxc \
    --listen-client-urls "$(url $i)" --advertise-client-urls "$(url $i)" \
    --listen-peer-urls "$(peer $i)" --initial-advertise-peer-urls "$(peer $i)" \
    --initial-cluster "m0=$(peer 0),m1=$(peer 1),m2=$(peer 2)" \
    --cert-file member.pem --key-file member.key \
    --client-cert-auth --trusted-ca-file site.pem >"etcd$i.log" 2>&1 &
  pids+=($!)
  disown
done
for i in 0 1 2; do
  for _ in $(seq 100); do
    ask $i v3/maintenance/status >/dev/null && continue 2
    sleep 0.1
  done
  fail "etcd does not start: $(tail -3 "etcd$i.log")"
done

# leader [BUT]: which member leads, as another one says.
leader() {
  local i status
  for i in 0 1 2; do
    [ "$i" != "${1:-}" ] || continue
    status=$(ask $i v3/maintenance/status) || continue
    if [ "$(grep -o '"leader":"[0-9]*"' <<<"$status" | grep -o '[0-9]*')" = \
         "$(grep -o '"member_id":"[0-9]*"' <<<"$status" | grep -o '[0-9]*')" ]
    then
      echo $i
      return
    fi
  done
}

export MXC_ETCD_CACERT=$work/site.pem MXC_ETCD_CERT=$work/node.pem
export MXC_ETCD_KEY=$work/node.key
etcd=$(url 0),$(url 1),$(url 2)
prepare 60
mxc launch --workers 2 --servers 2 --etcd "$etcd" --name night --on-death wait \
  -- "${train[@]}" --epochs "$epochs" --save "$work/torn" >log 2>&1 &
job=$!
await_checkpoint $job torn
first=$(leader)
kill -9 "${pids[first]}"
strike $job  # who is new waits until the other two have elected one
second=$(leader "$first")
[ -n "$second" ] || fail "nobody leads"
echo "etcd: member $first led and was killed, then member $second led"

refused() { # SENTENCE: what a worker is told that begins now
  MXC_ROLE=worker RANK=0 WORLD_SIZE=1 MXC_SERVERS=1 MXC_ARRIVAL=1 MXC_JOB=none \
    MXC_ETCD=$(url "$second") mxc-run "${train[@]:1}" 2>errors &&
    fail "the job begins"
  grep -q "$1" errors || fail "said: $(cat errors)"
}
MXC_ETCD_CACERT=$work/other.pem refused "etcd does not answer: .*certificate"
MXC_ETCD_CERT= MXC_ETCD_KEY= refused "etcd does not answer: "
echo passed
