#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What only a GPU can show: that kernels compute there what they do on the CPU,
# the same bytes twice, without accesses that NVIDIA's tools complain about, and
# how fast. The tools are packed on any machine and run where a driver is, which
# needs nothing but a C library as new as this machine's:
#   on_device.sh pack BUILD FOLDER             about 50 MiB
#   sh FOLDER/on_device.sh run [SECONDS]       default: 300; writes FOLDER/report
# MXC_ON_DEVICE_TARGET: what is compiled for (default: cuda:sm_80, which later
# generations run, too); products of 16 bits are compiled for
# MXC_ON_DEVICE_WARPGROUPS (default: cuda:sm_90a), too. MXC_ON_DEVICE_TIMED:
# networks whose training steps are measured, as NETWORK:BATCH;
# MXC_ON_DEVICE_NETWORKS: those that are compared with the CPU.
set -e

pack() {
  build=$1 folder=$2
  mkdir -p "$folder/tools/lib"
  for tool in bin/mxc bin/mxc-run tests/devices tests/mxc-random; do
    cp "$build/$tool" "$folder/tools"
    ldd "$build/$tool" | awk '$3 ~ /^\// { print $3 }'
  done | sort -u | grep -vE '/lib(c|m)\.so' | while read -r library; do
    cp -L "$library" "$folder/tools/lib"
  done
  strip "$folder"/tools/mxc* "$folder/tools/devices"
  cp -r "$(dirname "$0")/../../models" "$folder/tools"
  tar cf - -C "$folder" tools | xz -T0 -6 > "$folder/tools.tar.xz"
  rm -r "$folder/tools"
  cp "$0" "$(dirname "$0")/peers.py" "$folder"
}

# Each part says whether it passed, failed, or was skipped and why.
run() {
  folder=$(cd "$(dirname "$0")" && pwd)
  end=$(($(date +%s) + ${1:-300})) failed=0
  report=$folder/report work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  : > "$report"
  tar xJf "$folder/tools.tar.xz" -C "$work"
  export XDG_CACHE_HOME="$work" CUDA_CACHE_PATH="$work/jit"
  target=${MXC_ON_DEVICE_TARGET:-cuda:sm_80}
  warpgroups=${MXC_ON_DEVICE_WARPGROUPS:-cuda:sm_90a}
  timed=${MXC_ON_DEVICE_TIMED:-"lenet:64 resnet-50:64 vgg-16:64 mobilenetv2:64"}
  say() { echo "$@" | tee -a "$report"; }
  # The packed libraries are for the packed tools alone.
  tool() {
    LD_LIBRARY_PATH="$work/tools/lib:$LD_LIBRARY_PATH" \
      PATH="$work/tools:$PATH" "$@"
  }
  part() {  # NAME SECONDS COMMAND…
    name=$1 left=$((end - $(date +%s)))
    [ "$left" -lt "$2" ] || left=$2
    shift 2
    if [ "$left" -le 0 ]; then
      say "skipped: $name: no time is left"
      return
    fi
    began=$(date +%s)
    status=0
    tool timeout "$left" "$@" > "$work/output" 2>&1 || status=$?
    if [ $status = 0 ]; then
      say "passed: $name ($(($(date +%s) - began)) s)"
    elif [ $status = 124 ] && [ "$(date +%s)" -ge "$end" ]; then
      say "skipped: $name: the time ended"
    else
      say "FAILED: $name ($(($(date +%s) - began)) s)"
      failed=1
    fi
    tail -n 40 "$work/output" | sed 's/^/    /' | tee -a "$report"
  }
  without() { say "skipped: $2: no $1 here"; }
  model() { echo "$work/tools/models/$1.json"; }
  # Kernels are assembled by the driver when they are first loaded: all at once,
  # and kept.
  prepare() {  # NAME MODEL TARGET OPTION…
    {
      prepared=$1 network=$2 for=$3
      shift 3
      tool timeout 120 mxc compile "$(model "$network")" --target "$for" \
        --init xavier --seed 7 --quiet -o "$work/$prepared.mxa" "$@" &&
        { [ "$for" = native ] ||
          tool timeout 120 mxc-run bench "$work/$prepared.mxa" --iterations 1 \
            --warmup 0 --entry train; }
    } > "$work/$prepared.log" 2>&1 &
  }

  if command -v nvidia-smi > /dev/null; then
    part "the device" 10 nvidia-smi
  else
    without nvidia-smi "the device"
  fi
  generation=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
    2> /dev/null | head -n 1 || true)
  generation=${MXC_FAKE_GENERATION:-$generation}
  same=${MXC_ON_DEVICE_NETWORKS:-mlp lenet alexnet googlenet}
  for network in $same; do
    prepare "$network.cpu" "$network" native --entry infer,train --batch 2
    prepare "$network.gpu" "$network" "$target" --entry infer,train --batch 2
  done
  for each in $timed; do
    for precision in f32 tf32 bf16; do
      prepare "${each%:*}.$precision" "${each%:*}" "$target" --entry train \
        --batch "${each#*:}" --precision $precision
    done
    [ "$generation" != 9.0 ] ||
      prepare "${each%:*}.bf16-sm_90a" "${each%:*}" "$warpgroups" --entry train \
        --batch "${each#*:}" --precision bf16
  done
  wait
  for network in $same; do
    # Two runs of the same file must give the same bytes.
    part "$network: results of the CPU" 60 \
      devices "$work/$network.cpu.mxa" "$work/$network.gpu.mxa" 1e-5
    part "$network: the same bytes twice" 60 \
      devices "$work/$network.gpu.mxa" "$work/$network.gpu.mxa"
  done
  # Batch norm over two samples magnifies what sums round: step by step.
  part "resnet-20-cifar: each step, and gradients" 100 mxc verify \
    "$(model resnet-20-cifar)" --init xavier --batch 2 --target "$target" \
    --grad --quiet
  part "random networks" 45 mxc-random --device "$target" --count 1000 \
    --seconds 30
  if [ "$generation" = 9.0 ]; then
    part "random networks, by warpgroups" 45 mxc-random --device "$warpgroups" \
      --first 5000 --count 1000 --seconds 30
  else
    say "skipped: by warpgroups: no device of 9.0 here"
  fi
  for each in memcheck racecheck; do
    if command -v compute-sanitizer > /dev/null; then
      part "lenet: $each" 40 compute-sanitizer --tool $each --error-exitcode 1 \
        mxc-run bench "$work/lenet.bf16.mxa" --entry train --iterations 1 \
        --warmup 0
    else
      without compute-sanitizer "lenet: $each"
    fi
  done
  for each in $timed; do
    for precision in f32 tf32 bf16 bf16-sm_90a; do
      if [ ! -e "$work/${each%:*}.$precision.mxa" ]; then continue; fi
      part "$each: a step of training, $precision" 20 \
        mxc-run bench "$work/${each%:*}.$precision.mxa" --entry train \
        --duration 0.5 --warmup 2
    done
  done
  if python3 -c 'import torch, torchvision' 2> /dev/null; then
    began=$(date +%s)
    timeout 60 python3 "$folder/peers.py" 2>&1 | sed 's/^/    /' |
      tee -a "$report"
    say "PyTorch's times ($(($(date +%s) - began)) s)"
  else
    without PyTorch "PyTorch's times"
  fi
  return $failed
}

case $1 in
  pack | run) "$@" ;;
  *) sed -n 3,16p "$0" | cut -c3- >&2; exit 2 ;;
esac
