#!/bin/bash
# Host s2-r730: the vhost-user ports of its guests. Running it again changes nothing.
# With OpenStack, Nova makes these ports itself: do not run it there.
set -euo pipefail

vsctl() {
	ovs-vsctl ${OVSDB:+--db="$OVSDB"} --no-wait "$@"
}

mkdir -p /var/lib/vhost_sockets
vsctl --may-exist add-port br-physnet-ew firewall-data -- \
	set Interface firewall-data type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/firewall-data
vsctl --may-exist add-port br-physnet-ew dpi-1-data -- \
	set Interface dpi-1-data type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/dpi-1-data
vsctl --may-exist add-port br-physnet-ew dpi-2-data -- \
	set Interface dpi-2-data type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/dpi-2-data
vsctl --may-exist add-port br-physnet-ew balancer-data -- \
	set Interface balancer-data type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/balancer-data
