#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What only a GPU can show: that kernels compute there what they do on the CPU,
# the same bytes twice, without accesses that NVIDIA's tools complain about, and
# how fast. A folder is packed on any machine and runs where a driver is:
#   on_device.sh pack FOLDER_OF_MXC DEVICES FOLDER [NETWORK…]
#   FOLDER/on_device.sh run [SECONDS]        default: 600; writes FOLDER/report
# DEVICES is build/tests/devices. MXC_ON_DEVICE_TARGET: what is compiled for
# (default: cuda:sm_80, which later generations run, too); products of bf16 are
# compiled for MXC_ON_DEVICE_WARPGROUPS (default: cuda:sm_90a), too;
# MXC_ON_DEVICE_BATCH: of what is measured (default: 32). Networks whose files
# leave no room in 64 MiB are left out, and named. MXC_FAKE_GENERATION: of the
# emulated device, 9.0.
set -e
limit_kib=65536

pack() {
  mxc=$1/mxc run=$1/mxc-run devices=$2 folder=$3
  shift 3
  [ $# -gt 0 ] || set -- mlp lenet resnet-20-cifar googlenet
  target=${MXC_ON_DEVICE_TARGET:-cuda:sm_80}
  warpgroups=${MXC_ON_DEVICE_WARPGROUPS:-cuda:sm_90a}
  batch=${MXC_ON_DEVICE_BATCH:-32}
  models=$(cd "$(dirname "$0")/../.." && pwd)/models
  mkdir -p "$folder"
  cp "$run" "$devices" "$0" "$folder"
  strip "$folder/mxc-run" "$folder/$(basename "$devices")" 2> /dev/null || true
  for network in "$@"; do
    compile() {  # TARGET ENTRIES BATCH PRECISION FILE
      "$mxc" compile "$models/$network.json" --target "$1" --entry "$2" \
        --batch "$3" --precision "$4" --init xavier --seed 7 --quiet \
        -o "$folder/$network.$5.mxa"
    }
    # Few samples show what is computed, many how fast.
    compile native infer,train 2 f32 cpu
    compile "$target" infer,train 2 f32 gpu
    compile "$target" train "$batch" f32 bench-f32
    compile "$target" train "$batch" tf32 bench-tf32
    compile "$target" train "$batch" bf16 bench-bf16
    compile "$warpgroups" train "$batch" bf16 bench-bf16-sm_90a
    if [ "$network" = "$1" ]; then
      "$mxc" compile "$models/$network.json" --target "$target" \
        --entry train,score --batch 32 --replicas 2 --init xavier --seed 7 \
        --quiet -o "$folder/$network.together.mxa"
    fi
    if [ "$(du -sk "$folder" | cut -f1)" -gt $limit_kib ]; then
      rm "$folder/$network".*
      echo "$network: left out, no room in $((limit_kib / 1024)) MiB"
    else
      echo "$network" >> "$folder/networks"
    fi
  done
}

# Each part says whether it passed, failed, or was skipped and why.
run() {
  folder=$(cd "$(dirname "$0")" && pwd)
  end=$(($(date +%s) + ${1:-600})) failed=0
  report=$folder/report
  : > "$report"
  say() { echo "$@" | tee -a "$report"; }
  part() {  # NAME COMMAND…
    name=$1
    shift
    left=$((end - $(date +%s)))
    if [ $left -le 0 ]; then
      say "skipped: $name: no time is left"
      return
    fi
    if timeout $left "$@" > "$folder/output" 2>&1; then
      say "passed: $name"
    else
      say "FAILED: $name"
      failed=1
    fi
    sed 's/^/    /' "$folder/output" | tee -a "$report"
  }
  without() { say "skipped: $2: no $1 here"; }

  if command -v nvidia-smi > /dev/null; then
    part "the device" nvidia-smi -q -d CLOCK,MEMORY
  else
    without nvidia-smi "the device"
  fi
  while read -r network; do
    # Two runs of the same file must give the same bytes.
    part "$network: results of the CPU" \
      "$folder/devices" "$folder/$network.cpu.mxa" "$folder/$network.gpu.mxa" \
      1e-5
    part "$network: the same bytes twice" \
      "$folder/devices" "$folder/$network.gpu.mxa" "$folder/$network.gpu.mxa"
  done < "$folder/networks"
  # Where there is no library, kernels do what it would have done.
  if { ldconfig -p; ls $(echo "$LD_LIBRARY_PATH" | tr : ' '); } 2> /dev/null |
    grep -qE 'lib(cublasLt\.so\.1[23]|cudnn\.so\.9)'; then
    while read -r network; do
      part "$network: results of the CPU, by libraries" \
        env MXC_LIBRARIES=1 "$folder/devices" "$folder/$network.cpu.mxa" \
        "$folder/$network.gpu.mxa" 1e-5
      part "$network: the same bytes twice, by libraries" \
        env MXC_LIBRARIES=1 "$folder/devices" "$folder/$network.gpu.mxa" \
        "$folder/$network.gpu.mxa"
      part "$network: a step of training, f32, by libraries" \
        env MXC_LIBRARIES=1 "$folder/mxc-run" bench \
        "$folder/$network.bench-f32.mxa" --entry train \
        --duration "${MXC_ON_DEVICE_SECONDS:-3}" --warmup 1
    done < "$folder/networks"
  else
    without "libcublasLt.so or libcudnn.so.9" "by libraries"
  fi
  # Those of sm_90a run on that generation alone.
  generation=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
    2> /dev/null | head -n 1 || true)
  precisions="f32 tf32 bf16"
  if [ "${MXC_FAKE_GENERATION:-$generation}" = 9.0 ]; then
    precisions="$precisions bf16-sm_90a"
    while read -r network; do
      part "$network: bf16 by warpgroups as by warps" "$folder/devices" \
        "$folder/$network.bench-bf16.mxa" \
        "$folder/$network.bench-bf16-sm_90a.mxa" 3e-2
      part "$network: the same bytes twice, by warpgroups" "$folder/devices" \
        "$folder/$network.bench-bf16-sm_90a.mxa" \
        "$folder/$network.bench-bf16-sm_90a.mxa"
    done < "$folder/networks"
  else
    say "skipped: by warpgroups: no device of 9.0 here"
  fi
  first=$(head -n 1 "$folder/networks")
  gpus=$(nvidia-smi --list-gpus 2> /dev/null | grep -c GPU || true)
  if [ "${MXC_FAKE_DEVICES:-$gpus}" -gt 1 ]; then
    part "$first: two GPUs train together" "$folder/mxc-run" train \
      "$folder/$first.together.mxa" --data digits --data-opt size=512 \
      --batch-size 64 --epochs 2 --device cuda:0,cuda:1 --lr 0.1
  else
    say "skipped: $first: two GPUs train together: there is one, or none"
  fi
  for tool in memcheck racecheck; do
    if command -v compute-sanitizer > /dev/null; then
      part "$first: $tool" compute-sanitizer --tool $tool --error-exitcode 1 \
        "$folder/devices" "$folder/$first.gpu.mxa" "$folder/$first.gpu.mxa"
    else
      without compute-sanitizer "$first: $tool"
    fi
  done
  while read -r network; do
    for precision in $precisions; do
      part "$network: a step of training, $precision" \
        "$folder/mxc-run" bench "$folder/$network.bench-$precision.mxa" \
        --entry train --duration "${MXC_ON_DEVICE_SECONDS:-3}" --warmup 1
    done
  done < "$folder/networks"
  return $failed
}

case $1 in
  pack | run) "$@" ;;
  *) sed -n 3,13p "$0" | cut -c3- >&2; exit 2 ;;
esac
