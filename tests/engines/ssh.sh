#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/ssh.sh BIN [stand-in]
# Jobs over a real sshd on this machine: a worker is killed, a machine is cut
# off, and the job goes on from its checkpoint and learns the same bytes; Ctrl-C
# saves; nobody is left when the launcher is killed or stopped. Needs
# openssh-server; with a stand-in for ssh, a shell of this machine does, and
# nothing takes longer than seconds.
set -euo pipefail
bin=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
work=$(mktemp -d)
daemon=
end() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cd "$work"

# start_sshd: and what a user has in ~/.ssh/config.
start_sshd() {
  local sshd
  sshd=$(command -v sshd || echo /usr/sbin/sshd)
  require "$sshd" ssh ssh-keygen
  ssh-keygen -q -t ed25519 -N "" -f host
  ssh-keygen -q -t ed25519 -N "" -f user
  [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
  cat >sshd_config <<END
Port 17022
ListenAddress 127.0.0.1
HostKey $work/host
AuthorizedKeysFile $work/user.pub
PidFile none
StrictModes no
MaxStartups 100
END
  "$sshd" -D -e -f "$work/sshd_config" 2>sshd_log &
  daemon=$!
  cat >ssh_config <<END
Host *
  Port 17022
  IdentityFile $work/user
  UserKnownHostsFile $work/known
  StrictHostKeyChecking accept-new
  HostName 127.0.0.1
  LogLevel ERROR
END
}
reach="exec sh -c \"\$command\""
[ "${2:-}" = stand-in ] || {
  start_sshd
  reach="exec $(command -v ssh) -F $work/ssh_config \"\$@\""
}
# The machine "lost" cannot be reached once the file gone is there.
mkdir programs
cat >programs/ssh <<END
#!/bin/sh
for command; do machine=\$before before=\$command; done
[ "\$machine" != lost ] || [ ! -e "$work/gone" ] || exit 255
echo \$\$ >>"$work/reaching-\$machine"
$reach
END
chmod +x programs/ssh
export PATH=$work/programs:$bin:$PATH

# begin PREFIX HOSTS [OPTION…] -- WORD…: a job of 2 workers and 2 servers.
begin() {
  local prefix=$1 hosts=$2 options=()
  shift 2
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  rm -f "$prefix"[.-]*
  mxc launch --on ssh --hosts "$hosts" --workers 2 --servers 2 --port 17200 \
    "${options[@]}" -- "${train[@]}" "$@" --save "$work/$prefix" >log 2>&1 &
  job=$!
}

prepare
begin torn localhost,127.0.0.1 --on-death restart -- --epochs 20
strike $job

# Worker 0 is on the machine that is lost, and then elsewhere.
begin torn localhost,127.0.0.1,lost --on-death restart -- --epochs 20
await_checkpoint $job torn
touch gone
kill -9 $(cat reaching-lost)
equal $job torn
grep -q "is cut off, 'lost' cannot be reached" log || fail "it says nothing"
echo "a machine was cut off; the same bytes"

begin asked localhost -- --epochs 1000
await_checkpoint $job asked
! grep -aq "mxc-kvstore-key" /proc/[0-9]*/cmdline /proc/[0-9]*/environ \
  2>/dev/null ||
  fail "a key stands where others may read it"
kill -INT $job
status=0
wait $job || status=$?
[ $status -eq 130 ] || fail "Ctrl-C ends with $status"
left_by asked 2

begin ended localhost -- --epochs 1000
await_checkpoint $job ended
kill -9 $job
left_by ended 3
echo "nobody is left of a killed launcher"

if [ "${2:-}" != stand-in ]; then
  begin stopped localhost -- --epochs 1000
  await_checkpoint $job stopped
  kill -STOP $job
  left_by stopped 35
  kill -9 $job
  echo "nobody is left of a stopped launcher"
fi

status=0
mxc launch --on ssh --workers 1 -- true 2>log || status=$?
[ $status -eq 1 ] && grep -q "needs machines" log || fail "no machines"
status=0
mxc launch --on slurm --workers 1 -- true 2>log || status=$?
[ $status -eq 1 ] && grep -q "within an allocation" log || fail "no allocation"
status=0
mxc-run attend </dev/null 2>log || status=$?
[ $status -eq 1 ] && grep -q "nobody says what to run" log || fail "no launcher"
echo passed
