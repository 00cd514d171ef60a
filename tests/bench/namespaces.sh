# SPDX-License-Identifier: Apache-2.0
# Machines that are network namespaces, for scripts that source this: each behind
# a link of its own to one switch. Needs root, ip netns and tc.
machines=()

# make_machines RATE NAME…: the n-th has the address 10.77.0.n. Both directions
# of its link carry RATE, and hold back what comes faster for at most 5 ms, as a
# small switch does. CONGESTION: in the environment, how TCP finds a link's rate
# (reno).
#
# A burst is longer than what the kernel sends at once (64 KiB): otherwise tbf
# takes that apart and wakes for each packet, which costs one of two processors.
make_machines() {
  local rate=$1 name number=0
  shift
  machines=("$@")
  ip link add mxc-bridge type bridge
  ip link set mxc-bridge up
  for name in "$@"; do
    number=$((number + 1))
    ip netns add "$name"
    ip link add "mxc-v$number" type veth peer name eth0 netns "$name"
    ip link set "mxc-v$number" master mxc-bridge up
    ip -n "$name" address add "10.77.0.$number/24" dev eth0
    ip -n "$name" link set eth0 up
    ip -n "$name" link set lo up
    tc qdisc add dev "mxc-v$number" root tbf rate "$rate" burst 128kb latency 5ms
    tc -n "$name" qdisc add dev eth0 root tbf rate "$rate" burst 128kb latency 5ms
    ip netns exec "$name" sysctl -qw \
      "net.ipv4.tcp_congestion_control=${CONGESTION:-reno}"
  done
}

remove_machines() {
  local i
  for i in "${!machines[@]}"; do
    ip link del "mxc-v$((i + 1))" 2>/dev/null || true
    ip netns del "${machines[i]}" 2>/dev/null || true
  done
  ip link del mxc-bridge 2>/dev/null || true
}
