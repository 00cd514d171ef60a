# SPDX-License-Identifier: Apache-2.0
# For the scripts beside it: kill -9 of processes of a job at random moments.

. "$(dirname "${BASH_SOURCE[0]}")/own_processes.sh"

killed=0

# processes PREFIX: those of the job that saves under it.
processes() {
  local process
  for process in $(own_processes "train mlp.mxa .* --save $1( |$)"); do
    grep -qz MXC_ROLE= "/proc/$process/environ" 2>/dev/null && echo "$process"
  done
}

# kill_some JOB PREFIX MOST: until `killed` is so many, or the job has ended.
kill_some() {
  local all victim
  while [ "$killed" -lt "$3" ] && kill -0 "$1" 2>/dev/null; do
    sleep "0.$((RANDOM % 900 + 100))"
    mapfile -t all < <(processes "$2")
    [ ${#all[@]} -gt 0 ] || continue
    victim=${all[RANDOM % ${#all[@]}]}
    kill -9 "$victim" 2>/dev/null && killed=$((killed + 1))
  done
}
