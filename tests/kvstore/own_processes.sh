# SPDX-License-Identifier: Apache-2.0
# For the scripts beside it.

# own_processes PATTERN: whose command line matches and which run in this folder.
# Tests run beside one another, and the jobs of two may have one name.
own_processes() {
  local found
  for found in $(pgrep -f "$1" || true); do
    [ ! "/proc/$found/cwd" -ef . ] || echo "$found"
  done
}
