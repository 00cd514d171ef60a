#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: GCC 12.2.0 with glibc 2.36, from Debian 12
# expected: -static-libstdc++ and -static-libgcc make a program run on more
#   systems, as it no longer asks them for the libraries of a new compiler
# seen: a program that needs glibc 2.34 when it is linked dynamically needs 2.36
#   by -static-libstdc++ (libstdc++.a draws random numbers by arc4random) and
#   2.35 by -static-libgcc (the unwinder asks _dl_find_object): what was the
#   need of Debian's shared libraries is the program's.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_debian g++-12=12.2.0-14+deb12u1
cat >"$folder/hello.cc" <<'END'
#include <iostream>
#include <stdexcept>
int main(int count, char**) {
  try {
    if (count > 1) throw std::runtime_error("too many words\n");
    std::cout << "hello\n";
  } catch (const std::exception& error) {
    std::cout << error.what();
  }
}
END
seen=$(for option in -O2 -static-libgcc -static-libstdc++; do
  g++-12 --sysroot="$folder/root" -O2 $option "$folder/hello.cc" \
    -o "$folder/hello"
  echo "$option $(needed_glibc "$folder/hello")"
done)
same "$seen" "-O2 GLIBC_2.34
-static-libgcc GLIBC_2.35
-static-libstdc++ GLIBC_2.36"
