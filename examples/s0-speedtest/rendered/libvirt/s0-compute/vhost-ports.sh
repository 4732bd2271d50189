#!/bin/bash
# Host s0-compute: the vhost-user ports of its guests. Running it again changes nothing.
# With OpenStack, Nova makes these ports itself: do not run it there.
set -euo pipefail

vsctl() {
	ovs-vsctl ${OVSDB:+--db="$OVSDB"} --no-wait "$@"
}

mkdir -p /var/lib/vhost_sockets
vsctl --may-exist add-port br-physnet1 iperf3-1-eth0 tag=2 -- \
	set Interface iperf3-1-eth0 type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/iperf3-1-eth0
vsctl --may-exist add-port br-physnet1 iperf3-2-eth0 tag=2 -- \
	set Interface iperf3-2-eth0 type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/iperf3-2-eth0
