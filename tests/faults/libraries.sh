#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: libraries.sh BIN_DIR
# mxc-run starts where there is libc alone, and names the library that a picture
# or a compressed file needs. Needs to mount; skipped (77) where it may not.
if [ "${2:-}" != mounted ]; then
  unshare -m true 2>/dev/null || exit 77
  exec unshare -m "${BASH_SOURCE[0]}" "$1" mounted
fi
source "$(dirname "${BASH_SOURCE[0]}")/start.sh"
cat >pictures.json <<'END'
{ "mxc": 1, "inputs": {"data": [1, 3, 4, 4]},
  "nodes": [ {"op": "Flatten"}, {"op": "FullyConnected", "num_hidden": 2},
             {"op": "SoftmaxOutput", "name": "softmax"} ] }
END
mxc compile pictures.json --init one --quiet || exit 1
mxc compile pictures.json --init one --quiet --entry train,score -o score.mxa ||
  exit 1

# What libc's package has, and nothing else.
needed=$(readelf -d "$(command -v mxc-run)" |
  sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
  grep -vE '^(libc|libm|libdl|libpthread|ld-linux-x86-64)\.so')
[ -z "$needed" ] || fail "mxc-run needs $needed"

printf '\xff\xd8\xff' >photo.jpg
printf '\x89PNG\r\n\x1a\n' >photo.png
printf '\x1f\x8b\x08' >labels.gz
for library in libjpeg libpng16 libz; do
  for file in $(ldconfig -p | sed -n "s/.*$library\.so.* => //p"); do
    mount --bind /dev/null "$(readlink -f "$file")" || exit 77
  done
done

refused 'a JPEG picture needs libjpeg.so.' \
  mxc-run run pictures.mxa --input photo.jpg
refused 'a PNG picture needs libpng16.so.' \
  mxc-run run pictures.mxa --input photo.png
mxc-run run net.mxa --input x.npy >out 2>&1 || fail "run: $(cat out)"

# One sentence for all pictures of a source, not a remark for each.
mkdir -p folder/class
for i in 1 2 3; do cp photo.jpg folder/class/$i.jpg; done
refused 'a JPEG picture needs libjpeg.so.' mxc-run score score.mxa \
  --data folder:folder --data-opt data_shape=3,4,4

finish
