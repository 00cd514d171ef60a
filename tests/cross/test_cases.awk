# SPDX-License-Identifier: Apache-2.0
# What a test program (doctest, --duration=true) says of the cases that fail, as it comes;
# at its end how many of `count` passed, drawn by `seed` from `all`. With `terminal` each
# as it is done.
function close_case() {
  if (failed) printf "%s", said
  said = ""
  failed = 0
}
/^=+$/ { close_case() }
{ said = said $0 "\n" }
/ERROR: / { failed = failing = 1 }
/^[0-9.]+ s: / {
  ++done
  wrong += failing
  failing = 0
  if (terminal) printf "\r\033[K%s: %d of %d, %s", name, done, count, $0 >"/dev/stderr"
}
END {
  close_case()
  if (terminal) printf "\r\033[K" >"/dev/stderr"
  from = count < all ? sprintf(", drawn by seed %s from %d", seed, all) : ""
  printf "%s: %d of %d cases passed, %d failed%s\n", name, done - wrong, count, wrong + failing, from
  if (done < count) printf "%s: the others were not reached\n", name
  exit wrong + failing > 0 || done < count
}
