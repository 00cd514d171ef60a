#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: clang 19.1.7 with libgcc 12.2.0, from Debian 12
# expected: what clang makes of a conversion from float to __bf16, two additions
#   and a shift, links wherever what it makes of one to _Float16 does
# seen: both are calls on x86-64, and Debian's libgcc, by which its clang links,
#   has __truncsfhf2 and no __truncsfbf2. AArch64's code has no such call.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_debian clang-19=1:19.1.7-3~deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 \
  binutils=2.40-2
library=$folder/root/usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a
calls_of() {  # TYPE TARGET
  echo "$1 f(float x) { return ($1)x; }" |
    clang-19 --target="$2" -O2 -S -x c -o - - | grep -oE '__trunc\w+' | sort -u
}
seen=$(for type in _Float16 __bf16; do
  name=$(calls_of $type x86_64-linux-gnu)
  echo "$type $name $(nm "$library" 2>/dev/null | grep -c "T $name" || true)"
done
calls_of __bf16 aarch64-linux-gnu || true)
same "$seen" "_Float16 __truncsfhf2 1
__bf16 __truncsfbf2 0"
