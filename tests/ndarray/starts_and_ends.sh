#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# starts_and_ends.sh PROGRAM [COUNT]: so many processes begin, call and end, each
# with what it should have said. 1,000 take half a minute.
set -eu
program=$1 count=${2:-1000}

i=0
while [ "$i" -lt "$count" ]; do
  sum=$(timeout 60 "$program") || { echo "process $i ended by $?"; exit 1; }
  [ "$sum" = "11 22 33 44" ] || { echo "process $i: the sum is '$sum'"; exit 1; }
  i=$((i + 1))
done
