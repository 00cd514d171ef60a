# SPDX-License-Identifier: Apache-2.0
# Sourced, before emulated.sh, by scripts of this folder that can try a share of their
# cases: takes `--share P` (of 1) and `--seed S`, which draws it, out of "$@".
share=1 seed=1 kept=()
while [ $# -gt 0 ]; do
  case $1 in
    --share) share=$2; shift ;;
    --seed) seed=$2; shift ;;
    *) kept+=("$1") ;;
  esac
  shift
done
set -- "${kept[@]}"

# of_share N: how many of N, at least one.
of_share() {
  awk -v all="$1" -v share="$share" 'BEGIN {
    n = int(all * share + 0.999999)
    print (n < 1 ? 1 : n < all ? n : all)
  }'
}

# drawn LINE…: that many of them, in the order in which they are drawn.
drawn() {
  printf '%s\n' "$@" |
    awk -v seed="$seed" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' |
    sort -n | cut -f 2- | sed "$(of_share $#)q"
}

# progress TEXT: on a terminal, in the place of the last one.
progress() { [ ! -t 2 ] || printf '\r\033[K%s' "$1" >&2; }

# each_case PROGRAM COUNT WORD…: what doctest says of the first COUNT cases. One that ends
# the program, as an emulator's fault does, ends no other.
each_case() {
  local program=$1 count=$2 first=1 said ended
  shift 2
  said=$(mktemp)
  while [ "$first" -le "$count" ]; do
    stdbuf -oL "$program" "$@" --duration=true --order-by=rand --rand-seed="$seed" \
      --first="$first" --last="$count" | tee "$said" || true
    ended=$(grep -c '^[0-9.]* s: ' "$said" || true)
    if [ "$ended" = 0 ]; then
      printf 'ERROR: the program ended in case %d\n0 s: case %d\n====\n' "$first" "$first"
      ended=1
    fi
    first=$((first + ended))
  done
  rm "$said"
}

# test_cases NAME PROGRAM WORD…: a test program's, drawn; shows what is said of those that
# fail, and at its end, also if all are interrupted, how many passed.
test_cases() {
  local name=$1 program=$2 all count terminal=0
  shift 2
  all=$("$program" "$@" --count | sed -n 's/.*current filters: //p')
  count=$(of_share "$all")
  [ ! -t 2 ] || terminal=1
  each_case "$program" "$count" "$@" |
    (trap '' INT TERM
      awk -v name="$name" -v count="$count" -v all="$all" -v seed="$seed" \
        -v terminal=$terminal -f "$here/test_cases.awk")
}
