#!/bin/sh
# Keeps the cluster's traffic inside of it. It runs before the kubelet starts: image pulls, DNS queries and connections to
# pods that have just gone are rejected here, and never take the machine's default route.
set -eu
# The kubelet sets these for the whole machine. It is shown files of this node that have the values it wants.
for setting in kernel/panic=10 kernel/panic_on_oops=1 vm/overcommit_memory=1; do
  file=/run/${setting%=*}
  mkdir -p "$(dirname "$file")"
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done
nodes=$(ip -4 route show dev eth0 proto kernel | cut -d ' ' -f 1)
nodes6=$(ip -6 route show dev eth0 proto kernel | cut -d ' ' -f 1 | paste -sd ,)
rules="ip daddr != { 127.0.0.0/8, $nodes, 10.96.0.0/16, 10.244.0.0/16, 224.0.0.0/4 } counter reject
    ip6 daddr != { ::1, ff00::/8, ${nodes6:-fe80::/64} } counter reject"
nft -f - <<RULES
table inet fence
delete table inet fence
table inet fence {
  chain output {
    type filter hook output priority filter
    $rules
  }
  chain forward {
    type filter hook forward priority filter
    $rules
  }
  chain leave {
    type nat hook postrouting priority srcnat
    ip saddr 10.244.0.0/16 ip daddr != 10.244.0.0/16 oifname "eth0" masquerade
  }
}
RULES
