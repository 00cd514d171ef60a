#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: clang 19.1.7, from Debian 12
# expected: -fveclib=libmvec for AArch64 calls the vector functions that glibc
#   has there (_ZGVnN4v_expf), or says that it has none and calls expf
# seen: without a warning it calls _ZGVbN4v_expf, which by its name is for SSE
#   and in no library of AArch64: what fails is the linker, at the end.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_debian clang-19=1:19.1.7-3~deb12u1
seen=$(clang-19 --target=aarch64-linux-gnu -O3 -ffast-math -fveclib=libmvec -S \
  -x c -o - - 2>&1 <<'END' | grep -oE 'bl\s_ZGV\w+|warning.*|error.*' | sort -u
float expf(float);
void all(float* restrict y, const float* restrict x, int n) {
  for (int i = 0; i < n; ++i) y[i] = expf(x[i]);
}
END
)
same "${seen//$'\t'/ }" "bl _ZGVbN4v_expf"
