#!/bin/bash
# Host s0-compute: configure Open vSwitch with DPDK. Running it again changes nothing.
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

# cores.vswitchd_own_core: the next core of node 0, one thread of it (S0 table 3)
config dpdk-lcore-mask 0x2 yes
# model tripleo (Red Hat OpenStack, OvsDpdkSocketMemory); node 0: 1224 -> 2048 (one pool for each distinct MTU, 1500, + 512 MiB); node 1: 1024 -> 1024 (no DPDK port on this node)
config dpdk-socket-mem 2048,1024 yes
# no more than planned, so that guests find theirs
config dpdk-socket-limit 2048,1024 yes
# 8 populated channels / 2 nodes
config dpdk-extra '-n 4' yes
# after the keys it reads
config dpdk-init true yes
# physical cores on node 0: 2 (cores.pmd_cores); one thread a core, its sibling idle (S0: best)
config pmd-cpu-mask 0xc no

# A DPDK port: queues, descriptors and MTU of the plan.
dpdk_options() {
	local port=$1 address=$2 mtu=$3
	vsctl set Interface "$port" type=dpdk "options:dpdk-devargs=\"$address\"" \
		options:n_rxq=2 \
		options:n_rxq_desc=2048 \
		options:n_txq_desc=2048 \
		"mtu_request=$mtu"
}

# n_rxq: node 0: 2 PMD threads / 1 port(s)
# descriptors: Open vSwitch's default, enough for standard frames
vsctl --may-exist add-br br-physnet1 -- set Bridge br-physnet1 datapath_type=netdev
vsctl --may-exist add-port br-physnet1 dpdk0 -- set Interface dpdk0 type=dpdk
dpdk_options dpdk0 0000:05:00.0 1500
if [ -n "$restart" ]; then
	echo "Restart ovs-vswitchd: it reads these when it starts:$restart"
fi
