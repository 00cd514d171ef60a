# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by each finding: a temporary folder, pinned packages in it, and the
# comparison of what a program printed with what it printed when this was found.
set -euo pipefail
export LC_ALL=C

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

skip() { echo "skipped: $*"; exit 77; }

# install_python PACKAGE==VERSION…
# $folder/python/bin/python has them.
install_python() {
  local python=$folder/python/bin/python
  "${PYTHON:-python3}" -m venv "$folder/python" 2>"$folder/log" ||
    skip "python3 has no venv"
  "$python" -m pip install -q --disable-pip-version-check --no-cache-dir \
    --only-binary :all: "$@" >"$folder/log" 2>&1 ||
    skip "PyPI gives no $* for $("$python" -V) here"
}

# The program on standard input, without the warnings of packages.
run_python() {
  PYTHONWARNINGS=ignore "$folder/python/bin/python" - 2>"$folder/log" ||
    { tail -1 "$folder/log" >&2; return 1; }
}

# install_debian PACKAGE=VERSION…
# $folder/root has them with all that they depend on, for the system's own
# loader and libc: PATH and LD_LIBRARY_PATH lead there.
install_debian() {
  local apt=$folder/apt package
  [[ $(cat /etc/debian_version 2>/dev/null) = 12* ]] ||
    skip "packages of Debian 12 run on Debian 12"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$folder/root"
  : >"$apt/status"
  echo "deb http://deb.debian.org/debian bookworm main" >"$apt/sources"
  local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources"
    -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
    -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt"
    -o APT::Sandbox::User= -o Debug::NoLocking=true
    -o APT::Install-Recommends=false)
  { apt-get "${options[@]}" update &&
    apt-get "${options[@]}" install -y --download-only "$@"; } \
    >"$folder/log" 2>&1 || skip "Debian's archive gives no $* here"
  for package in "$apt"/archives/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
  done
  export PATH=$folder/root/usr/bin:$PATH
  export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu
}

# The newest version of glibc that the functions of a program or library need.
needed_glibc() {
  readelf -V "$1" | grep -oE 'GLIBC_[0-9]+\.[0-9]+' | sort -uV | tail -1
}

# same SEEN WANTED
# Ends with what the script says at its top, or with how it has changed.
same() {
  if [ "$1" != "$2" ]; then
    echo "changed: seen is '${1//$'\n'/, }', not '${2//$'\n'/, }'" >&2
    exit 1
  fi
  sed -n '3,/^[^#]/s/^# //p' "$0"
}
