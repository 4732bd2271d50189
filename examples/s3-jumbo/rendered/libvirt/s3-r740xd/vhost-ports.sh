#!/bin/bash
# Host s3-r740xd: the vhost-user ports of its guests. Running it again changes nothing.
# With OpenStack, Nova makes these ports itself: do not run it there.
set -euo pipefail

vsctl() {
	ovs-vsctl ${OVSDB:+--db="$OVSDB"} --no-wait "$@"
}

mkdir -p /var/lib/vhost_sockets
vsctl --may-exist add-port br-physnet0 spirent-1-east tag=100 -- \
	set Interface spirent-1-east type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/spirent-1-east
vsctl --may-exist add-port br-physnet1 spirent-1-west tag=200 -- \
	set Interface spirent-1-west type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/spirent-1-west
vsctl --may-exist add-port br-physnet0 spirent-2-east tag=100 -- \
	set Interface spirent-2-east type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/spirent-2-east
vsctl --may-exist add-port br-physnet1 spirent-2-west tag=200 -- \
	set Interface spirent-2-west type=dpdkvhostuserclient options:vhost-server-path=/var/lib/vhost_sockets/spirent-2-west
