# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts of this folder with BUILD and TARGET: aarch64, aarch64-i8mm,
# aarch64-bf16, aarch64-sve256, riscv64-v, or riscv64-v/256 on vectors of 32 bytes;
# wasm32 and wasm32-relaxed, which run in Node. Sets
#   source build   folders
#   mxc            this machine's compiler, beside which its mxc-run lies
#   target         as --target names it
#   processor      as Debian's cross compilers call it; empty: Node's
#   emulator       an array, the words behind which a program of the processor stands
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
mxc=$build/bin/mxc
target=${2%%/*}
processor=
case $2 in
  aarch64) processor=aarch64 emulated=cortex-a72 ;;
  aarch64-sve256) processor=aarch64 emulated=max,sve-max-vq=2 ;;
  aarch64-i8mm | aarch64-bf16) processor=aarch64 emulated=max ;;
  riscv64-v) processor=riscv64 emulated=rv64,v=true,vext_spec=v1.0,vlen=128 ;;
  riscv64-v/256) processor=riscv64 emulated=rv64,v=true,vext_spec=v1.0,vlen=256 ;;
  wasm32) emulator=(node) ;;
  wasm32-relaxed) emulator=(node --experimental-wasm-relaxed-simd) ;;
  *) echo "no emulator is known for '$2'" >&2; exit 2 ;;
esac
[ -z "$processor" ] ||
  emulator=("qemu-$processor" -cpu "$emulated" -L "/usr/$processor-linux-gnu")

# cross_build NAME…: of the processor's build folder, whose path it prints.
cross_build() {
  local cross=$build/cross/$processor
  export CCACHE_BASEDIR=$source CCACHE_NOHASHDIR=1
  [ -f "$cross/build.ninja" ] ||
    cmake -G Ninja -S "$source" -B "$cross" -DMXC_COMPILER=OFF \
      --toolchain "$source/tools/cross/$processor.cmake" >/dev/null
  cmake --build "$cross" -j "${MXC_JOBS:-$(nproc)}" --target "$@" >/dev/null
  echo "$cross"
}
