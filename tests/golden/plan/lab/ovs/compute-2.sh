#!/bin/bash
# Host compute-2: configure Open vSwitch with DPDK. Running it again changes nothing.
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
config dpdk-lcore-mask 0x3000000003 yes
# model ovs-per-port (Open vSwitch, DPDK device memory models, per port); node 0: 1314 -> 2048 (rxq*rxd + txq*txd + 32*rxq + 16384 mbufs a port: 45120 x 10176 B + 45120 x 10176 B + 45120 x 10176 B); node 1: 1024 -> 1024 (no DPDK port on this node)
config dpdk-socket-mem 2048,1024 yes
# no more than planned, so that guests find theirs
config dpdk-socket-limit 2048,1024 yes
# 12 populated channels / 2 nodes
config dpdk-extra '-n 6' yes
# the memory model counts pools by port
config per-port-memory true yes
# after the keys it reads
config dpdk-init true yes
# physical cores on node 0: 1 (0.83 Gcycles/s demanded / (2.30 GHz x 80%)), node 1: 1 (no DPDK NIC here, for guests' vhost ports (Red Hat)); both threads of a core poll (Red Hat, S3)
config pmd-cpu-mask 0xc00000000c no

# A DPDK port: queues, descriptors and MTU of the plan.
dpdk_options() {
	local port=$1 address=$2 mtu=$3
	vsctl set Interface "$port" type=dpdk "options:dpdk-devargs=\"$address\"" \
		options:n_rxq=2 \
		options:n_rxq_desc=4096 \
		options:n_txq_desc=4096 \
		"mtu_request=$mtu"
}

# n_rxq: MTU 9000 needs two queues for zero loss (S3 tables 1 and 5)
# descriptors: MTU 9000: room for bursts of jumbo frames (S3)
vsctl --may-exist add-br br-physnet1 -- set Bridge br-physnet1 datapath_type=netdev
vsctl --may-exist add-bond br-physnet1 bond0 dpdk0 dpdk1 bond_mode=balance-slb -- set Interface dpdk0 type=dpdk -- set Interface dpdk1 type=dpdk
dpdk_options dpdk0 0000:5e:00.0 9000
dpdk_options dpdk1 0000:60:00.0 9000
vsctl --may-exist add-port br-physnet1 dpdk2 -- set Interface dpdk2 type=dpdk
dpdk_options dpdk2 0000:5e:00.1 9000
if [ -n "$restart" ]; then
	echo "Restart ovs-vswitchd: it reads these when it starts:$restart"
fi
