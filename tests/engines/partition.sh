#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/partition.sh BIN
# A job on three machines, which are network namespaces; links between them are
# cut, for moments and for longer than anybody is waited for. The job goes on
# when they are there again, and learns the same bytes as local processes. Needs
# root and ip netns.
set -euo pipefail
bin=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
require ip
bridge=mxc-br$$
ip link add $bridge type bridge 2>/dev/null ||
  { echo "skipped: no bridge can be made here"; exit 77; }
export PATH=$bin:$PATH
work=$(mktemp -d)
end() {
  local i
  for i in 1 2 3; do ip netns del mxc$$-$i 2>/dev/null || true; done
  ip link del $bridge 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cd "$work"

ip link set $bridge up
for i in 1 2 3; do
  ip netns add mxc$$-$i
  ip link add mxc$$v$i type veth peer name eth0 netns mxc$$-$i
  ip link set mxc$$v$i master $bridge up
  ip -n mxc$$-$i address add 10.77.0.$i/24 dev eth0
  ip -n mxc$$-$i link set eth0 up
  ip -n mxc$$-$i link set lo up
done
# What reaches a machine is no part of the network that is cut.
mkdir programs
cat >programs/ssh <<END
#!/bin/sh
for command; do machine=\$before before=\$command; done
exec ip netns exec mxc$$-\${machine##*.} sh -c "\$command"
END
chmod +x programs/ssh
export PATH=$work/programs:$PATH
# link MACHINE up|down
link() { ip link set mxc$$v"$1" "$2"; }

# begin PREFIX POLICY OPTION…: servers on machines 1 and 2, their backups on 2
# and 3, workers on 3 and 1.
begin() {
  mxc launch --on ssh --hosts 10.77.0.1,10.77.0.2,10.77.0.3 --workers 2 \
    --servers 2 --on-death "$2" "${@:3}" -- "${train[@]}" --epochs "$epochs" \
    --save "$work/$1" >log 2>&1 &
  job=$!
}
prepare 40
begin moments abort
await_checkpoint $job moments
for i in 1 2 3 2 3 1; do
  link $i down
  sleep 0.$((RANDOM % 9 + 1))
  link $i up
  sleep 0.3
done
equal $job moments
echo "cut six times for less than a second: the same bytes"

begin worker wait
await_checkpoint $job worker
link 3 down
sleep 14
link 3 up
equal $job worker
grep -q "worker 0 is lost" log || fail "nobody missed worker 0"
echo "worker 0 was cut off for 14 s and replaced: the same bytes"

begin server restart
await_checkpoint $job server
link 2 down
sleep 14
link 2 up
equal $job server
echo "a server was cut off for 14 s: the same bytes"

# With backups the job goes on meanwhile.
begin backup abort --replicas 1
await_checkpoint $job backup
link 2 down
begun=$(date +%s%N)
until grep -q "goes on without its other process, in term " log; do
  kill -0 $job 2>/dev/null || fail "nobody took the server's place"
  sleep 0.05
done
replaced=$((($(date +%s%N) - begun) / 1000000))
sleep 5
link 2 up
equal $job backup
[ $replaced -le 10000 ] || fail "it took $replaced ms"
echo "a server and a backup were cut off, others went on after $replaced ms:" \
  "the same bytes"
echo passed
