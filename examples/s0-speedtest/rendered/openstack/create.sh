#!/bin/bash
# Plan s0-speedtest: flavors, networks, aggregates and servers, in the order of the plan.
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
	# prefer: how vCPUs use SMT siblings (Nova's spelling, not S0's)
	--property hw:cpu_thread_policy=prefer
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=large
	# the guest's NUMA layout in the workload (S1)
	--property hw:numa_cpus.0=0-3
	# the guest's NUMA layout in the workload (S1)
	--property hw:numa_mem.0=4096
	# how many NUMA nodes the guest sees; hw:numa_cpus needs it
	--property hw:numa_nodes=1
	# one virtio queue for each vCPU (S3, figure 10)
	--property hw:vif_multiqueue_enabled=true
)
flavor iperf3 4 4096 20 "${specs[@]}"

has vlan2 "$networks" || openstack network create vlan2 \
	--provider-physical-network physnet1 --provider-network-type vlan --provider-segment 2 \
	--mtu 1500 >/dev/null
has vlan2-subnet "$subnets" || openstack subnet create vlan2-subnet \
	--network vlan2 --subnet-range 10.0.2.0/24 >/dev/null

# kind of the port in the workload
port iperf3-1-eth0 --network vlan2 \
	--vnic-type normal --mac-address fa:16:3e:00:00:00
server iperf3-1 s0-compute --flavor iperf3 --image centos7-4.5.4 \
	--port iperf3-1-eth0

# kind of the port in the workload
port iperf3-2-eth0 --network vlan2 \
	--vnic-type normal --mac-address fa:16:3e:00:00:01
server iperf3-2 s0-compute --flavor iperf3 --image centos7-4.5.4 \
	--port iperf3-2-eth0
