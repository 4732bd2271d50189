#!/bin/bash
# Plan s2-chains: flavors, networks, aggregates and servers, in the order of the plan.
# Needs an administrator's credentials in the environment. Cut anywhere, it goes on when run again:
# what exists is left as it is, and what exists but differs is refused. delete.sh undoes it.
set -euo pipefail

fail() {
	echo "create.sh: $*" >&2
	exit 1
}

has() { # NAME LINES
	grep -qxF -- "$1" <<<"$2"
}

openstack token issue -f value -c expires >/dev/null ||
	fail "Keystone at ${OS_AUTH_URL:-(OS_AUTH_URL is not set)} did not accept the credentials in the environment (OS_*)"
flavors=$(openstack flavor list --all -f value -c Name)
networks=$(openstack network list -f value -c Name)
subnets=$(openstack subnet list -f value -c Name)
ports=$(openstack port list -f value -c Name)
groups=$(openstack server group list -f value -c Name)
servers=$(openstack server list --limit -1 -f value -c Name)

flavor() { # NAME VCPUS MIB GIB PROPERTIES...
	local name=$1 found wanted
	wanted=$(printf '%s="%s"\n' disk "$4" ram "$3" vcpus "$2")
	if has "$name" "$flavors"; then
		found=$(openstack flavor show "$name" -f shell -c disk -c ram -c vcpus | sort)
		[ "$found" = "$wanted" ] ||
			fail "flavor $name exists with ${found//$'\n'/ }, the plan has ${wanted//$'\n'/ }: delete or rename it"
		[ $# = 4 ] || openstack flavor set "$name" "${@:5}"
	else
		openstack flavor create "$name" --vcpus "$2" --ram "$3" --disk "$4" "${@:5}" >/dev/null
	fi
}

port() { # NAME ARGUMENTS...
	has "$1" "$ports" || openstack port create "$@" >/dev/null
}

shown_server() { # NAME FIELD
	openstack server show "$1" -f value -c "$2"
}

# The scheduler takes seconds. A request whose message was lost, as RabbitMQ restarted for example,
# leaves the server with it for ever.
scheduled_s=${WIRESPEED_SCHEDULED_S:-120}

await_built() { # NAME; sets status, and fails for a server that no host took in time
	local deadline=$((SECONDS + scheduled_s))
	while status=$(shown_server "$1" status) && [ "$status" = BUILD ]; do
		[ "$SECONDS" -lt "$deadline" ] ||
			[ "$(shown_server "$1" OS-EXT-STS:task_state)" != scheduling ] || return 1
		sleep 1
	done
}

create_server() { # NAME HOST ARGUMENTS...
	# Naming the host (microversion 2.74) still asks the scheduler's filters.
	openstack --os-compute-api-version 2.74 server create "$1" --host "$2" "${@:3}" >/dev/null
}

server() { # NAME HOST ARGUMENTS...
	local name=$1 host=$2 status fault
	if has "$name" "$servers"; then
		status=$(shown_server "$name" status)
		# Nothing ever ran in a server that was not launched.
		if [ "$status" = ERROR ] && [ "$(shown_server "$name" OS-SRV-USG:launched_at)" = None ]; then
			openstack server delete --wait "$name"
			servers=$(grep -vxF -- "$name" <<<"$servers" || true)
		fi
	fi
	has "$name" "$servers" || create_server "$@"
	if ! await_built "$name"; then
		openstack server delete --wait "$name"
		create_server "$@"
		await_built "$name" ||
			fail "server $name had no host $scheduled_s s after it was requested, twice: look at the logs of nova-conductor and nova-scheduler, then run this again"
	fi
	[ "$status" = ACTIVE ] && return
	fault=$(openstack server show "$name" -f json -c fault | sed -n 's/.*"message": "\(.*\)",\{0,1\}$/\1/p')
	fail "server $name on $host is $status: $fault" \
		"(nova-compute there: $(openstack compute service list --service nova-compute --host "$host" -f value -c Status -c State)). Mend the cause and run this again"
}

specs=(
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
)
flavor router 3 3072 20 "${specs[@]}"
specs=(
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
)
flavor firewall 3 3072 20 "${specs[@]}"
specs=(
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
)
flavor dpi 3 3072 20 "${specs[@]}"
specs=(
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
)
flavor balancer 3 3072 20 "${specs[@]}"
specs=(
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
)
flavor netperf 3 3072 20 "${specs[@]}"

has north-south "$networks" || openstack network create north-south \
	--provider-physical-network physnet-ns --provider-network-type flat \
	--mtu 1500 >/dev/null
has north-south-subnet "$subnets" || openstack subnet create north-south-subnet \
	--network north-south --subnet-range 192.168.1.0/24 >/dev/null

has east-west "$networks" || openstack network create east-west \
	--provider-physical-network physnet-ew --provider-network-type flat \
	--mtu 1500 >/dev/null
has east-west-subnet "$subnets" || openstack subnet create east-west-subnet \
	--network east-west --subnet-range 192.168.2.0/24 >/dev/null

has service-chain "$groups" || openstack server group create service-chain --policy affinity >/dev/null
group_1=$(openstack server group show service-chain -f value -c id)

# east-west over 3 hop(s): VFs would put 14.7 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
port firewall-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:03
group=$group_1
server firewall s2-r730 --flavor firewall --image testpmd --hint "group=$group" \
	--port firewall-data

# east-west over 3 hop(s): VFs would put 14.7 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
port dpi-1-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:04
group=$group_1
server dpi-1 s2-r730 --flavor dpi --image testpmd --hint "group=$group" \
	--port dpi-1-data

# east-west over 3 hop(s): VFs would put 14.7 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
port dpi-2-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:05
group=$group_1
server dpi-2 s2-r730 --flavor dpi --image testpmd --hint "group=$group" \
	--port dpi-2-data

# east-west over 3 hop(s): VFs would put 14.7 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
port balancer-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:06
group=$group_1
server balancer s2-r730 --flavor balancer --image testpmd --hint "group=$group" \
	--port balancer-data

# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
port router-1-data --network north-south \
	--vnic-type direct --mac-address fa:16:3e:00:00:00
server router-1 s2-r730 --flavor router --image testpmd \
	--port router-1-data

# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
port router-2-data --network north-south \
	--vnic-type direct --mac-address fa:16:3e:00:00:01
server router-2 s2-r730 --flavor router --image testpmd \
	--port router-2-data

# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
port router-3-data --network north-south \
	--vnic-type direct --mac-address fa:16:3e:00:00:02
server router-3 s2-r730 --flavor router --image testpmd \
	--port router-3-data

# the guest does not use DPDK: virtio is ahead of vhost-user (S2, 5)
port netperf-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:07
server netperf s2-r730 --flavor netperf --image ubuntu-16.04 \
	--port netperf-data
