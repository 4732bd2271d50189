#!/bin/bash
# Host s2-r730: configure Open vSwitch with DPDK. Running it again changes nothing.
# OVS_RUNDIR and OVSDB (e.g. unix:/run/openvswitch/db.sock) are honoured.
set -euo pipefail

vsctl() {
	ovs-vsctl ${OVSDB:+--db="$OVSDB"} --no-wait "$@"
}

restart=""

# Set a key of other_config; remember those that ovs-vswitchd reads only when it starts.
config() {
	local key=$1 value=$2 at_start=$3 old
	old=$(vsctl --if-exists get Open_vSwitch . "other_config:$key" | tr -d '"')
	if [ "$old" = "$value" ]; then
		return
	fi
	vsctl set Open_vSwitch . "other_config:$key=\"$value\""
	if [ "$at_start" = yes ]; then
		restart="$restart $key"
	fi
}

# ovs-vswitchd shares the housekeeping CPUs (S3)
config dpdk-lcore-mask 0x300000000003 yes
# model tripleo (Red Hat OpenStack, OvsDpdkSocketMemory); node 0: 1224 -> 2048 (one pool for each distinct MTU, 1500, + 512 MiB); node 1: 1024 -> 1024 (no DPDK port on this node)
config dpdk-socket-mem 2048,1024 yes
# no more than planned, so that guests find theirs
config dpdk-socket-limit 2048,1024 yes
# 8 populated channels / 2 nodes
config dpdk-extra '-n 4' yes
# after the keys it reads
config dpdk-init true yes
# physical cores on node 0: 2 (2.88 Gcycles/s demanded / (2.20 GHz x 80%)), node 1: 1 (no DPDK NIC here, for guests' vhost ports (Red Hat)); both threads of a core poll (Red Hat, S3)
config pmd-cpu-mask 0x1c0000000001c no

# A DPDK port: queues, descriptors and MTU of the plan.
dpdk_options() {
	local port=$1 address=$2 mtu=$3
	vsctl set Interface "$port" type=dpdk "options:dpdk-devargs=\"$address\"" \
		options:n_rxq=4 \
		options:n_rxq_desc=2048 \
		options:n_txq_desc=2048 \
		"mtu_request=$mtu"
}

# n_rxq: node 0: 4 PMD threads / 1 port(s)
# descriptors: Open vSwitch's default, enough for standard frames
vsctl --may-exist add-br br-physnet-ew -- set Bridge br-physnet-ew datapath_type=netdev
vsctl --may-exist add-port br-physnet-ew dpdk0 -- set Interface dpdk0 type=dpdk
dpdk_options dpdk0 0000:04:00.1 1500
if [ -n "$restart" ]; then
	echo "Restart ovs-vswitchd: it reads these when it starts:$restart"
fi
