#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/slurm.sh BIN
# Jobs on a real Slurm of four virtual nodes on this machine: a worker is killed,
# and the job goes on from its checkpoint; what is learned has the same bytes as
# by local processes. Nobody is left when the launcher is killed or the
# allocation is cancelled. Needs slurm-wlm, munge and root.
set -euo pipefail
bin=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
require slurmctld slurmd munged srun
[ "$(id -u)" -eq 0 ] || { echo "skipped: not root"; exit 77; }
export PATH=$bin:$PATH
work=$(mktemp -d)
chmod 755 "$work"
daemons=()
end() {
  scancel -u root 2>/dev/null || true
  [ ${#daemons[@]} -eq 0 ] || kill "${daemons[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cd "$work"

# Munge with a key and a socket of its own.
mkdir -m 755 munge
dd if=/dev/urandom of=munge/key bs=1k count=1 2>/dev/null
chmod 400 munge/key
munged --force --foreground --key-file "$work/munge/key" \
  --socket "$work/munge/socket" --pid-file "$work/munge/pid" \
  --log-file "$work/munge/log" --seed-file "$work/munge/seed" \
  2>munge/errors &
daemons+=($!)

host=$(hostname -s)
export SLURM_CONF=$work/slurm.conf
cat >slurm.conf <<END
ClusterName=mxc
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17000
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldPidFile=$work/slurmctld.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
ReturnToService=2
SlurmdParameters=config_overrides
$(for i in 1 2 3 4; do
  echo "NodeName=node$i NodeHostname=$host NodeAddr=127.0.0.1 Port=1700$i CPUs=4"
done)
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
mkdir state spool-node{1,2,3,4}
sleep 0.5
slurmctld -D 2>ctld-errors &
daemons+=($!)
for i in 1 2 3 4; do
  slurmd -D -N node$i 2>slurmd-errors-$i &
  daemons+=($!)
done
for i in $(seq 100); do
  [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 4 ] && break
  sleep 0.1
done
sinfo -h

# begin PREFIX WORD…: a job of 2 workers and 2 servers.
begin() {
  local prefix=$1
  shift
  salloc -N4 --ntasks-per-node=1 -Q mxc launch --on slurm --workers 2 \
    --servers 2 --port 17100 --on-death restart -- "${train[@]}" "$@" \
    --save "$work/$prefix" >log 2>&1 &
  job=$!
}

prepare
begin torn --epochs 20
strike $job
cat log

begin ended --epochs 1000
await_checkpoint $job ended
kill -9 $(pgrep -f "^[^ ]*mxc.* launch --on slurm .*/ended( |$)")
wait $job || true
left_by ended 35
echo "nobody is left of a killed launcher"

begin cancelled --epochs 1000
await_checkpoint $job cancelled
scancel -u "$(id -un)"
wait $job || true
left_by cancelled 35
echo "nobody is left of a cancelled allocation"
echo passed
