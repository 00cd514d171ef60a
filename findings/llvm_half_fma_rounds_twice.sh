#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: LLVM 20.1.8, in llvmlite 0.47.0 from PyPI
# expected: llvm.fma of half is rounded once, which is what an fma is for, on
#   processors without such an instruction as well
# seen: on AArch64 and x86-64 without one it is an fma of float whose result is
#   rounded to half: twice. -281.5 · 224 - 0.00068 is -63040 by that code, and
#   -63072 is nearer: float cannot hold what lies just below -63056, the middle
#   of both.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_python llvmlite==0.47.0 numpy==2.4.6
seen=$(run_python <<'END'
from fractions import Fraction

import llvmlite.binding as llvm
import numpy

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
module = llvm.parse_assembly("""
declare half @llvm.fma.f16(half, half, half)
define half @f(half %a, half %b, half %c) {
  %r = call half @llvm.fma.f16(half %a, half %b, half %c)
  ret half %r
}""")
print(*llvm.llvm_version_info)
for triple, cpu in (("aarch64-linux-gnu", "generic"),
                    ("x86_64-linux-gnu", "x86-64-v3")):
    target = llvm.Target.from_triple(triple)
    text = target.create_target_machine(cpu=cpu).emit_assembly(module)
    words = [line.split()[0] for line in text.splitlines() if line.strip()]
    print(*[word for word in words
            if word.startswith(("fmadd", "fcvt", "vfmadd", "vcvt"))])

bits = numpy.array([0xdc66, 0x5b00, 0x9197], numpy.uint16)
a, b, c = bits.view(numpy.float16)
exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))


def rounded(number, kind):
    near = kind(float(number))
    around = [numpy.nextafter(near, kind(-numpy.inf)), near,
              numpy.nextafter(near, kind(numpy.inf))]
    return min(around, key=lambda each: (
        abs(Fraction(float(each)) - number),
        int(each.view(f"u{each.itemsize}")) % 2))


print(int(rounded(exact, numpy.float16)))
once_rounded = Fraction(float(rounded(exact, numpy.float32)))
print(int(rounded(once_rounded, numpy.float16)))
END
)
same "$seen" "20 1 8
fcvt fcvt fcvt fmadd fcvt
vcvtph2ps vcvtph2ps vcvtph2ps vfmadd213ss vcvtps2ph
-63072
-63040"
