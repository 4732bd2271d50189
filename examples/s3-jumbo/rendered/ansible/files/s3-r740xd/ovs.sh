#!/bin/bash
# Host s3-r740xd: configure Open vSwitch with DPDK. Running it again changes nothing.
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
# model s3-per-port (S3 appendix C); node 0: 10528 -> 11264 (one pool for each port, MTU 9000 + 9000 + 9000 + 9000, + 512 MiB); node 1: 1024 -> 1024 (no DPDK port on this node)
config dpdk-socket-mem 11264,1024 yes
# no more than planned, so that guests find theirs
config dpdk-socket-limit 11264,1024 yes
# 12 populated channels / 2 nodes
config dpdk-extra '-n 6' yes
# after the keys it reads
config dpdk-init true yes
# physical cores on node 0: 4 (cores.pmd_cores), node 1: 1 (cores.pmd_cores); both threads of a core poll (Red Hat, S3)
config pmd-cpu-mask 0x100601004100601004 no

# A DPDK port: queues, descriptors and MTU of the plan.
dpdk_options() {
	local port=$1 address=$2 mtu=$3
	vsctl set Interface "$port" type=dpdk "options:dpdk-devargs=\"$address\"" \
		options:n_rxq=2 \
		options:n_rxq_desc=4096 \
		options:n_txq_desc=4096 \
		"mtu_request=$mtu"
}

# n_rxq: node 0: 8 PMD threads / 4 port(s)
# descriptors: MTU 9000: room for bursts of jumbo frames (S3)
vsctl --may-exist add-br br-physnet0 -- set Bridge br-physnet0 datapath_type=netdev
vsctl --may-exist add-bond br-physnet0 dpdkbond0 dpdk0 dpdk1 bond_mode=balance-slb -- set Interface dpdk0 type=dpdk -- set Interface dpdk1 type=dpdk
dpdk_options dpdk0 0000:5e:00.0 9000
dpdk_options dpdk1 0000:60:00.0 9000
vsctl --may-exist add-br br-physnet1 -- set Bridge br-physnet1 datapath_type=netdev
vsctl --may-exist add-bond br-physnet1 dpdkbond1 dpdk2 dpdk3 bond_mode=balance-slb -- set Interface dpdk2 type=dpdk -- set Interface dpdk3 type=dpdk
dpdk_options dpdk2 0000:5e:00.1 9000
dpdk_options dpdk3 0000:60:00.1 9000
if [ -n "$restart" ]; then
	echo "Restart ovs-vswitchd: it reads these when it starts:$restart"
fi
