#!/bin/bash
# Host compute-1: the vhost-user ports of its guests. Running it again changes nothing.
# With OpenStack, Nova makes these ports itself: do not run it there.
set -euo pipefail

vsctl() {
	ovs-vsctl ${OVSDB:+--db="$OVSDB"} --no-wait "$@"
}

mkdir -p /var/lib/vhost_sockets
vsctl --may-exist add-port br-physnet1 gateway-1-access tag=100 -- \
	set Interface gateway-1-access type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/gateway-1-access
vsctl --may-exist add-port br-physnet1 ids-in tag=200 -- \
	set Interface ids-in type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/ids-in
