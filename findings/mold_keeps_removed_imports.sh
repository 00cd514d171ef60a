#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: mold 1.10.1 and GNU ld and gold 2.40, from Debian 12
# expected: --gc-sections, which removes a function that nothing calls, removes
#   the need for what that function alone imports
# seen: it does in GNU ld's program, which needs glibc 2.34. mold and gold
#   remove the function, too, but not the import: their programs need glibc
#   2.36, for arc4random, which no code in them calls.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_debian gcc-12=12.2.0-14+deb12u1 mold=1.10.1+dfsg-1 \
  binutils=2.40-2 libc6-dev
cat >"$folder/unused.c" <<'END'
unsigned arc4random(void);
unsigned unused(void) { return arc4random(); }
int main(void) { return 0; }
END
seen=$(for linker in bfd mold gold; do
  gcc-12 --sysroot="$folder/root" -O2 -ffunction-sections "$folder/unused.c" \
    -Wl,--gc-sections -fuse-ld=$linker -o "$folder/unused"
  calls=$(objdump -d "$folder/unused" | grep -c arc4random || true)
  echo "$linker $(needed_glibc "$folder/unused") $calls calls"
done)
same "$seen" "bfd GLIBC_2.34 0 calls
mold GLIBC_2.36 0 calls
gold GLIBC_2.36 0 calls"
