#!/bin/sh
# The pod network, in place of kindnetd: the range of this node's pods comes from its own Node object, which is all that
# a kubelet's certificate may read. Pods of other nodes are reached on the nodes' network, by proxy ARP.
set -eu
ip route replace 10.244.0.0/16 dev eth0
sysctl -q net.ipv4.conf.eth0.proxy_arp=1

own_node() {
  server=$(sed -n 's/^ *server: //p' /etc/kubernetes/kubelet.conf)
  certificate=/var/lib/kubelet/pki/kubelet-client-current.pem
  curl -fsS --cacert /etc/kubernetes/pki/ca.crt --cert $certificate --key $certificate \
    "$server/api/v1/nodes/$(hostname)"
}

pods=
until [ "$pods" ]; do
  sleep 0.5
  pods=$(own_node 2>/dev/null | jq -r '.spec.podCIDR // ""')
done
jq -n --arg pods "$pods" '{ cniVersion: "0.3.1", name: "pods", plugins: [
  { type: "ptp", ipam: { type: "host-local", dataDir: "/run/cni-ipam-state",
    ranges: [[{ subnet: $pods }]], routes: [{ dst: "0.0.0.0/0" }] } },
  { type: "portmap", capabilities: { portMappings: true } } ] }' >/tmp/pods.conflist
mkdir -p /etc/cni/net.d
mv /tmp/pods.conflist /etc/cni/net.d/10-pods.conflist
